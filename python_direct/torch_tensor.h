// Tensors of PyTorch that have no plain memory, and modes of PyTorch in which none is made: found,
// and explained with what to do instead.
#pragma once

#include <dlpack.h>
#include <nanobind/nanobind.h>

#include <string>

namespace nvfuser::python {

namespace nb = nanobind;

/// Facts about all tensors of a class.
struct TensorClass {
  const DLPackExchangeAPI* api = nullptr; // nullptr: none, or not PyTorch's
  /// Whether the class decides what its elements are (`__torch_dispatch__`), and not their memory.
  bool is_opaque = false;
};

/// Looked up once for each class. The table of another framework is not taken: it does not say on
/// which stream a tensor is ready. Needs the GIL.
[[nodiscard]] const TensorClass& tensor_class(PyTypeObject* type);

/// The tensor of PyTorch `item` cannot be read; `reason` is PyTorch's, empty if there is none.
[[noreturn]] void throw_unreadable(nb::handle item, const std::string& reason);

/// Views that are conjugated or negated when they are read, and tensors without data: throws.
/// `tensor` is how `api` described `item`.
void check_torch_tensor(const DLPackExchangeAPI& api, nb::handle item, const DLTensor& tensor);

/// Modes that record operations instead of doing them would give outputs without data, or a record
/// in which the run of a kernel is a constant: throws. Returns whether there may be other modes, or
/// transforms of torch.func, which want to see new tensors. Needs the GIL.
[[nodiscard]] bool check_torch_modes();

/// PyTorch made no memory for an output; `reason` is its own. Needs the GIL.
[[noreturn]] void throw_no_memory(const std::string& reason);

} // namespace nvfuser::python
