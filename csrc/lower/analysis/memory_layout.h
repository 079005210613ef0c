// Where the elements of a tensor lie: which axes its storage has, and the offset of an element.
#pragma once

#include <vector>

#include "lower/analysis/index_walk.h"

namespace nvfuser {

/// Whether each iteration of `loop`, which runs over more than the broadcast that `axis` of
/// `tensor` is, computes the same anew: the thread's copy has one element for all of them.
[[nodiscard]] bool is_same_in_iterations(
    const TensorView* tensor, const IterDomain* axis, const Loop& loop);

/// Axes of a register array or a shared buffer, outermost first. Extents are those of the promoted
/// loops. Axes whose loops are shared with consumers are not stored; neither are reductions,
/// broadcasts, grid axes, nor, in registers, thread axes (each thread has its own). A shared buffer
/// inside of a thread loop that is no axis of the tensor has an element for each thread.
[[nodiscard]] IterDomains stored_axes(const Kernel& kernel, const TensorView* tensor);

/// Number of elements of the storage: product of the stored axes' extents, for each stage of a
/// circular buffer; for global memory of the allocation domain.
[[nodiscard]] Val* stored_elements(Kernel& kernel, const TensorView* tensor);

/// Tests that say, together, that the element the walk stands at has a place of its own in a
/// register array or a shared buffer that has no explicit allocation domain: that the threads which
/// act are those that the buffer has axes for. Provable ones are left out.
[[nodiscard]] std::vector<RangeTest> storage_tests(
    Kernel& kernel, IndexSimplifier& simplifier, IndexWalk& walk, const TensorView* tensor);

/// Offset, in elements, of the element of `tensor` that the walk stands at. The stage of a circular
/// buffer is its outermost dimension.
[[nodiscard]] Val* element_offset(
    Kernel& kernel, IndexSimplifier& simplifier, IndexWalk& walk, TensorView* tensor);

/// Whether memory holds two elements in each byte: fp4 in global memory. Elsewhere each has a byte.
[[nodiscard]] bool is_stored_in_pairs(const TensorView* tensor);

/// Axes that address global memory, outermost first: the allocation domain without reductions and
/// device axes. Positions in this list are those of `T0.alloc_stride[k]`.
[[nodiscard]] IterDomains global_axes(const TensorView* tensor);
/// The stride of `global_axes(tensor)[axis]` (elements): what a launch passes.
[[nodiscard]] Val* memory_stride(Kernel& kernel, const TensorView* tensor, size_t axis);

} // namespace nvfuser
