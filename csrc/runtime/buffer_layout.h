// How a tensor in global memory lies: sizes a user sees, and strides of both its logical dimensions
// and the axes that address its memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eval/evaluator.h"
#include "ir/tensor_view.h"

namespace nvfuser {

/// Axes that address the memory of a global tensor, outermost first: its allocation domain without
/// reductions and device axes. `alloc_stride` of a kernel parameter has one entry per axis.
[[nodiscard]] IterDomains memory_axes(const TensorView* tensor);
/// Logical dimensions a user sees: without reductions.
[[nodiscard]] IterDomains logical_axes(const TensorView* tensor);

/// Sizes and strides (elements) of the memory axes.
struct MemoryLayout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// The memory axes of a tensor that exists with `sizes` and `strides` of its logical dimensions.
/// Throws UserError where the allocation domain does not fit them.
[[nodiscard]] MemoryLayout layout_of_existing(
    const TensorView* tensor,
    std::span<const int64_t> sizes,
    std::span<const int64_t> strides,
    ExpressionEvaluator& evaluator);

/// A tensor to be made.
struct BufferLayout {
  std::vector<int64_t> sizes;   // logical
  std::vector<int64_t> strides; // logical; 0 in expanded dimensions
  MemoryLayout memory;
  int64_t elements = 1;     // of the storage, holes of padded allocation domains included
  bool is_row_major = true; // compact, and in the order of the logical dimensions
};

/// The compact layout of `tensor`: memory axes contiguous in their order. Throws UserError where
/// sizes are not known, or where no strides show the memory as the logical dimensions.
[[nodiscard]] BufferLayout layout_of_new(const TensorView* tensor, ExpressionEvaluator& evaluator);

} // namespace nvfuser
