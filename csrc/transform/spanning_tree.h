// The maximum-information spanning tree: from which neighbour each tensor takes its transforms.
//
// A tensor *carries* an axis of the reference in those of its logical axes that the axis was
// carried to on the way; the way is complete for the axis as long as none of them was lost
// (reduced, or squeezed). Among all neighbors that are in the tree already, a tensor is reached
// from the one that carries most complete axes to it, then most axes at all, then from the one on
// the way through fewest reshapes (a consumer that merges or splits an axis has no loops over it),
// then through fewest inputs, then from the one nearest to the reference.
#pragma once

#include <functional>
#include <vector>

#include "transform/replay.h"

namespace nvfuser::transform {

struct TreeEdge {
  TensorView* from = nullptr;
  TensorView* to = nullptr;
  Direction direction = Direction::ToProducer;
};

/// Whether propagation may take an edge.
using EdgeFilter = std::function<bool(const TreeEdge& edge)>;

/// Edges in the order in which the tree grows: `from` is the reference or the `to` of an earlier
/// edge. Every tensor that can be reached is the `to` of one edge.
/// Cost: O(n log n) in neighbors.
[[nodiscard]] std::vector<TreeEdge> spanning_tree(
    TensorView* reference, const EdgeFilter& may_take = nullptr);

/// The edges of a tree that lead to a tensor of `wanted`, in the same order.
[[nodiscard]] std::vector<TreeEdge> paths_to(
    const std::vector<TreeEdge>& tree, const std::vector<TensorView*>& wanted);

/// Producers, consumers that lead to an output, and siblings.
[[nodiscard]] std::vector<TreeEdge> edges_from(TensorView* tensor);

} // namespace nvfuser::transform
