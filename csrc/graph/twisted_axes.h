// Axes that stand at two places of another one.
//   T1[N, M]   T2[M, N] = reshape(T1)   T3[N, M] = T1[N, M] + T2[M, N], transposed
// T3 makes N and M of both tensors the same axes. Then N is the quotient of T1's merged axis by M,
// and the remainder of the same axis by N: an element of T2 would be read where it is not.
//
// Two ways that lead from an axis to another one are compared by numbers: indices of the one, and
// what splits and merges make of them. Ways that undo each other give the same, whatever the order
// in which axes were merged.
#pragma once

#include <optional>
#include <vector>

#include "graph/val_graph.h"

namespace nvfuser {

struct TwistedAxis {
  IterDomain* axis = nullptr;  // that has two values
  IterDomain* whole = nullptr; // of which it is a part in two ways
};

/// The first twisted axis of a graph.
/// Cost: O(axes that follow from one that is split or merged in two ways), for each of these. An
/// axis of the same size that follows from it, as behind the next reshape of a chain, is not looked
/// at again.
[[nodiscard]] std::optional<TwistedAxis> find_twisted_axis(const ValGraph& graph);

/// The first of `tensors` that has `axis`; nullptr: none.
[[nodiscard]] const TensorView* tensor_with(
    const IterDomain* axis, const std::vector<TensorView*>& tensors);

} // namespace nvfuser
