// Tensors that meet a reshape of themselves.
#pragma once

#include <optional>

#include "graph/val_graph.h"

namespace nvfuser {

/// An axis of the graph that follows in two ways from the axes of a tensor.
///   T1[N, M]   T2[N * M] = reshape(T1)   T3[N, M, N * M] = T1[N, M, 1] + T2[1, 1, N * M]
/// N is the first axis of T3, and the quotient of its last one by M: what is computed in the loops
/// of T3 has two indices of N. A way from more axes to what fewer determine already is none:
///   T2 = reshape(T1)   T3[N, M] = T1 + reshape(T2)
struct AmbiguousAxis {
  IterDomain* axis = nullptr;   // that follows in two ways
  IterDomain* first = nullptr;  // an axis of the tensor that is needed for one of them only
  IterDomain* second = nullptr; // and one for the other
};

/// The first ambiguous axis, from the logical axes of `tensor` through splits and merges.
/// Cost: O(axes that follow).
[[nodiscard]] std::optional<AmbiguousAxis> find_ambiguous_axis(
    const ValGraph& graph, const TensorView* tensor);

} // namespace nvfuser
