// Which tensors of one kernel have to be stored, when everything else is computed where it is used.
//
// A tensor is computed where it is used if all its readers can share a loop. They cannot
//
//   in different stages:  T1 = exp(T0)   T2 = sum(T1)   T3 = T1 / T2
//     T2 is stored, so T3 stands in a later loop than T2: T1 is stored as well
//   in loops of different axes:  T1 = broadcast(T0)[1, C]   T2 = T1 + T4[N, C]   T3 = squeeze(T1)
//     computed with T2, T3 would be computed N times: wasteful, and wrong if it updates an input
#pragma once

#include <unordered_set>
#include <vector>

#include "ir/fusion.h"

namespace nvfuser {

class ValGraph;

namespace schedule {

using TensorSet = std::unordered_set<const TensorView*>;

/// `stored` and the tensors that must be stored as well. `computed` are the tensors of the kernel
/// that are no inputs, operands before results; `exact` says which axes are the same. Cost:
/// O(edges) for each tensor that is added.
[[nodiscard]] TensorSet closed_under_sharing(
    const std::vector<TensorView*>& computed, const ValGraph& exact, TensorSet stored);

} // namespace schedule
} // namespace nvfuser
