// Which neighbouring iterations are neighbours in memory.
//
// A schedule merges the innermost axes of its reference and splits lanes off. This says for a
// tensor by which widths its accesses may then be vectorized. It asks the questions of lowering's
// `check_vector_accesses` before there is a schedule: what is answered here is not refused there.
#pragma once

#include <vector>

#include "graph/val_graph.h"
#include "ir/tensor_view.h"

namespace nvfuser::schedule {

/// The innermost axes of the memory of a tensor that lanes run through.
struct VectorRun {
  /// No vector at all: the lanes are not innermost, or not contiguous.
  bool exists = false;
  /// The width has to divide the product of each of these lists of extents.
  std::vector<std::vector<const Val*>> multiples;
  /// Positions among the axes that address memory. The strides of all others are multiples of the
  /// width, or there is no vector.
  std::vector<int64_t> memory_axes;
};

/// `axes`: those of the reference that are merged, outermost first; each one with all inside of it.
/// Broadcasts of the tensor end a run, since the element repeats.
/// Cost: O(axes squared).
[[nodiscard]] VectorRun find_vector_run(
    const ValGraph& exact, const TensorView* tensor, const IterDomains& axes);

/// Axes that address the memory of a global tensor, outermost first: its allocation domain without
/// reductions and device axes.
[[nodiscard]] IterDomains memory_axes(const TensorView* tensor);

} // namespace nvfuser::schedule
