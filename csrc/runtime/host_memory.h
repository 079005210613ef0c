// Memory of large tensors on the host. A page costs a fault when it is touched for the first time,
// which takes longer than the arithmetic of most kernels: memory of tensors that are gone is kept,
// and given to new ones. Its pages are huge where the system allows it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/types.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser {

/// Smaller tensors are better served by the allocator of the process.
constexpr int64_t kLeastPooledBytes = 2 << 20;
/// Memory that is kept without a tensor in it, of the whole process. While the system has too
/// little memory it takes the pages of what is kept.
constexpr int64_t kMostKeptBytes = int64_t{1} << 30;

/// An uninitialised row-major tensor in memory that an earlier one may have had. No value: it is
/// small, or the system has no memory to map. May be called, and its tensors deleted, in any
/// thread.
[[nodiscard]] std::optional<DlpackHandle> allocate_pooled(
    DataType dtype, std::span<const int64_t> sizes);

} // namespace nvfuser
