// Tensors between Python and the core, through DLPack.
//
// A framework whose tensor type has `__dlpack_c_exchange_api__` (PyTorch from 2.10 on) is asked
// through that table: tensor in, allocate out, current stream. Others (NumPy, CuPy, JAX, older
// PyTorch) are read through `__dlpack__`. New tensors are PyTorch's: through its table, or through
// torch.empty.
#pragma once

#include <dlpack.h>
#include <nanobind/nanobind.h>

#include <deque>
#include <span>
#include <vector>

#include "runtime/dlpack_tensor.h"
#include "runtime/launch.h"

namespace nvfuser::python {

namespace nb = nanobind;

/// The arguments of a run. Keeps the Python objects, and what their tensors need, until it is gone.
/// Made and destroyed with the GIL.
class PythonArguments {
 public:
  /// Reads any iterable; nested lists and tuples are flattened one level. Throws UserError for
  /// items that are neither tensors nor numbers.
  explicit PythonArguments(nb::handle inputs);

  [[nodiscard]] std::span<const Argument> args() const {
    return args_;
  }
  /// The object that argument `i` was read from.
  [[nodiscard]] nb::object object(size_t i) const {
    return objects_[i];
  }

 private:
  void add(nb::handle item);
  bool add_number(nb::handle item);
  bool add_tensor(nb::handle item);
  void add_capsule_tensor(nb::handle item);
  void add_view(DLTensor tensor);

  std::vector<Argument> args_;
  std::vector<nb::object> objects_;
  std::vector<DlpackHandle> owned_;          // tensors read through capsules
  std::deque<std::vector<int64_t>> strides_; // of tensors that came without
};

/// Makes the outputs of a run. Called without the GIL.
class PythonAllocator final : public OutputAllocator {
 public:
  PythonAllocator();
  [[nodiscard]] DlpackHandle allocate(
      DataType dtype, std::span<const int64_t> sizes, Device device) override;
  [[nodiscard]] void* current_stream(Device device) override;

  /// The Python tensor of `handle`. Needs the GIL.
  [[nodiscard]] nb::object to_python(DlpackHandle handle) const;

 private:
  const DLPackExchangeAPI* api_; // PyTorch's; nullptr: an older PyTorch
};

/// The list that a run returns. Needs the GIL.
[[nodiscard]] nb::list to_python(
    std::vector<RunOutput> outputs, const PythonArguments& args, const PythonAllocator& allocator);

} // namespace nvfuser::python
