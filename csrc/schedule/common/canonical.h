// The canonical form of a reference: axes in the order of memory, merged to the sides of the
// problem.
#pragma once

#include "ir/tensor_view.h"

namespace nvfuser::schedule {

/// Bring the loops of `tensor`, which run over its logical axes, into the order of its memory.
void order_like_memory(TensorView* tensor);

/// Merge the loop axes [begin, end) to one, which stands at `begin`. Innermost first: what lowering
/// proves about lanes holds for as many of the axes as are neighbours in memory.
///   [a, b, c] -> [a (b c)]
void merge_axes(TensorView* tensor, int64_t begin, int64_t end);

/// Move loop axes: `order[i]` is the axis that comes to position i.
void arrange_axes(TensorView* tensor, const std::vector<int64_t>& order);

} // namespace nvfuser::schedule
