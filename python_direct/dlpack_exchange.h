// Tensors between Python and the core, through DLPack.
//
// PyTorch from 2.11 on is asked through the table `__dlpack_c_exchange_api__` of its tensor type:
// tensor in, allocate out, current stream. Others (NumPy, CuPy, JAX, older PyTorch) are read
// through `__dlpack__`. Outputs are tensors of the framework of the inputs: PyTorch's if any of
// them is, or if there are none.
#pragma once

#include <dlpack.h>
#include <nanobind/nanobind.h>

#include <list>
#include <optional>
#include <span>
#include <vector>

#include "array_framework.h"
#include "base/kept_vector.h"
#include "gil.h"
#include "runtime/dlpack_tensor.h"
#include "runtime/launch.h"

namespace nvfuser::python {

namespace nb = nanobind;

/// Throws UserError for a tensor in the place of a list of inputs: it can be iterated over as well,
/// and its rows would be taken for the inputs.
void check_is_list_of_inputs(nb::handle inputs);

/// The arguments of a run. Keeps the Python objects, and what their tensors need, until it is gone.
/// Made and destroyed with the GIL.
class PythonArguments {
 public:
  /// Reads any iterable; nested lists and tuples are flattened one level. Throws UserError for
  /// items that are neither tensors nor numbers.
  explicit PythonArguments(nb::handle inputs);

  [[nodiscard]] std::span<const Argument> args() const {
    return *args_;
  }
  /// The object that argument `i` was read from.
  [[nodiscard]] nb::object object(size_t i) const {
    return (*objects_)[i];
  }
  /// The framework that the outputs belong to; empty: PyTorch.
  [[nodiscard]] const std::optional<ArrayFramework>& framework() const {
    return framework_;
  }

 private:
  void add(nb::object object);
  bool add_number(nb::handle item);
  bool add_tensor(nb::handle item);
  void choose_framework();
  [[nodiscard]] TensorArg read_capsule(nb::handle item);
  [[nodiscard]] TensorArg view(DLTensor tensor);

  KeptVector<Argument> args_;
  KeptVector<nb::object> objects_;
  std::vector<size_t> pending_; // positions of tensors to be read through capsules
  bool has_torch_tensor_ = false;
  std::optional<ArrayFramework> framework_;
  std::vector<DlpackHandle> owned_;         // tensors read through capsules
  std::list<std::vector<int64_t>> strides_; // of tensors that came without
};

/// Makes the outputs of a run. Made and destroyed with the GIL, which is released from `unlock`
/// until something needs it.
class PythonAllocator final : public OutputAllocator {
 public:
  /// For outputs of `framework`; empty: of PyTorch.
  explicit PythonAllocator(std::optional<ArrayFramework> framework);
  [[nodiscard]] DlpackHandle allocate(
      DataType dtype, std::span<const int64_t> sizes, Device device) override;
  [[nodiscard]] DlpackHandle allocate_strided(
      DataType dtype,
      std::span<const int64_t> sizes,
      std::span<const int64_t> strides,
      int64_t elements,
      Device device) override;
  [[nodiscard]] DlpackHandle allocate_workspace(int64_t bytes, Device device) override;
  [[nodiscard]] void* current_stream(Device device) override;
  void unlock() override {
    if (!no_gil_) {
      no_gil_.emplace();
    }
  }
  /// Take the GIL again.
  void lock() {
    no_gil_.reset();
  }

  /// The Python tensor of `handle`. Needs the GIL.
  [[nodiscard]] nb::object to_python(DlpackHandle handle) const;
  /// A tensor of PyTorch in the framework of the outputs. Needs the GIL.
  [[nodiscard]] nb::object in_framework(const nb::object& tensor) const;
  /// The same as a tensor of PyTorch.
  [[nodiscard]] nb::object to_torch(DlpackHandle handle) const;
  /// The memory of a tensor of PyTorch, which the caller has made ready. Needs the GIL.
  [[nodiscard]] DlpackHandle from_torch(nb::handle tensor) const;
  /// Does `current_stream` give PyTorch's?
  [[nodiscard]] bool is_on_stream_of_pytorch() const {
    return !framework_owns_memory_;
  }

 private:
  /// Outputs of PyTorch are tensors that `make_unwatched` makes, if it can.
  enum class Purpose : uint8_t { Output, Workspace };

  [[nodiscard]] DlpackHandle allocate_for(
      Purpose purpose, DataType dtype, std::span<const int64_t> sizes, Device device);
  /// Through the exchange table, which needs no GIL.
  [[nodiscard]] DlpackHandle allocate_by_table(
      DataType dtype, std::span<const int64_t> sizes, Device device);
  /// A tensor that PyTorch makes without asking modes and transforms, if there are none.
  [[nodiscard]] std::optional<DlpackHandle> make_unwatched(
      DataType dtype,
      std::span<const int64_t> sizes,
      std::span<const int64_t> strides,
      Device device);

  const std::optional<ArrayFramework> framework_;
  const bool framework_owns_memory_;
  const DLPackExchangeAPI* api_; // PyTorch's; nullptr: an older PyTorch, or not asked
  bool is_watched_ = true;       // by modes, or by transforms
  void* last_stream_ = nullptr;
  std::optional<GilRelease> no_gil_;
};

/// The list that a run returns; with the GIL from here on.
[[nodiscard]] nb::list to_python(
    std::vector<RunOutput> outputs, const PythonArguments& args, PythonAllocator& allocator);

} // namespace nvfuser::python
