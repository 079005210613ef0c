// Frameworks beside PyTorch whose arrays are read and made through `__dlpack__`: NumPy, CuPy, JAX.
//
// Outputs come back in the framework of the inputs. NumPy and CuPy also own the memory and, on
// CUDA, name the stream; others get a view of a PyTorch tensor.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/dlpack_tensor.h"

namespace nvfuser::python {

namespace nb = nanobind;

/// A package with a function `from_dlpack`. All members need the GIL.
class ArrayFramework {
 public:
  /// The framework of `array`; empty for PyTorch, and for classes of packages that take no tensors.
  [[nodiscard]] static std::optional<ArrayFramework> of(nb::handle array);

  /// Can it allocate arrays that kernels write, or are those made by PyTorch?
  [[nodiscard]] bool owns_memory() const;
  /// Are its arrays never written?
  [[nodiscard]] bool is_immutable() const;
  /// An uninitialised row-major tensor. Requires owns_memory().
  [[nodiscard]] DlpackHandle allocate(
      DataType dtype, std::span<const int64_t> sizes, Device device) const;
  /// The stream it works on. Requires owns_memory().
  [[nodiscard]] void* current_stream(Device device) const;
  /// An array that is a view of `exporter`, which has `__dlpack__`; `exporter` itself where the
  /// framework has no such element type.
  [[nodiscard]] nb::object from_dlpack(const nb::object& exporter) const;

 private:
  explicit ArrayFramework(std::string package) : package_(std::move(package)) {}

  std::string package_;
};

/// A tensor on its way to a framework: what `from_dlpack` functions take.
struct DlpackTensor {
  std::shared_ptr<DLManagedTensorVersioned> tensor;
  void* stream = nullptr; // what wrote it
};

[[nodiscard]] nb::object make_exporter(DlpackHandle handle, void* stream);
/// Take the tensor out of what `__dlpack__` returned.
[[nodiscard]] DlpackHandle take_capsule(nb::handle capsule);
/// `handle` with a deleter that may be called without the GIL, where its own needs it.
[[nodiscard]] DlpackHandle guard_deleter(DlpackHandle handle);

} // namespace nvfuser::python
