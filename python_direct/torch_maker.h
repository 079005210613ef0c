// New tensors of PyTorch in the way that code of torch.compile makes them: by functions that go
// past the dispatcher. They take half the time of the exchange table, and what they make is
// PyTorch's own tensor: `record_stream` and `resize_` work on it.
#pragma once

#include <dlpack.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/dlpack_tensor.h"

namespace nvfuser::python {

namespace nb = nanobind;

/// torch.float32 and the like.
[[nodiscard]] nb::object torch_dtype(DataType dtype);

/// In the place of strides: those of a compact row-major tensor.
constexpr std::span<const int64_t> kRowMajor;

/// An uninitialised tensor, whose deleter may be called without the GIL. No value: this PyTorch
/// lacks the functions or the type, or has no memory; the exchange table, asked for the same, says
/// why. No mode or transform of PyTorch sees the tensor. Needs the GIL, and that `device` is the
/// current one.
[[nodiscard]] std::optional<DlpackHandle> make_torch_tensor(
    const DLPackExchangeAPI& api,
    DataType dtype,
    std::span<const int64_t> sizes,
    std::span<const int64_t> strides,
    Device device);

/// The Python object of such a tensor, which `handle` then no longer owns; empty: it is another
/// one. Needs the GIL.
[[nodiscard]] nb::object take_torch_tensor(DlpackHandle& handle);

} // namespace nvfuser::python
