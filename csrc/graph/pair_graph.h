// PairGraph: facts that two neighbors in the fusion, a producer and one of its consumers, give
// about each other's axes.
//
// Beside equal transforms of axes that correspond there is *forwarding*: where only one of them has
// an axis, of size 1, a merge with that axis changes nothing for the other and is skipped. A split
// of such an axis by 4 has a part of size 4, which is real: a merge with that part is not skipped.
#pragma once

#include <utility>
#include <vector>

#include "graph/domain_map.h"
#include "graph/val_graph.h"

namespace nvfuser {

/// Merges to skip: pairs of a merge's output and the input that it stands for.
/// Both tensors contribute, each for the axes that the other lacks.
[[nodiscard]] std::vector<std::pair<IterDomain*, IterDomain*>> forwarded_merges(
    const TensorView* producer, const TensorView* consumer);

/// Whether a tensor that lacks the axis `id` can skip a merge with it.
[[nodiscard]] bool is_forwardable(const IterDomain* id);

/// The graph over the ids of the two tensors: axes that correspond, broadcasts that are resolved
/// unless they are dropped, equal transforms, forwarding.
[[nodiscard]] ValGraph pair_graph(
    const TensorView* producer,
    const TensorView* consumer,
    BroadcastPairs broadcasts = BroadcastPairs::Keep);

/// Whether the loops of `producer` were resized otherwise than those of `consumer`. One iteration
/// of both is then another element, also where the extents are equal by another way through the
/// fusion.
[[nodiscard]] bool is_resized_apart(const TensorView* producer, const TensorView* consumer);

/// How the loops of a producer can become loops of its consumer.
struct LoopAlignment {
  /// Per loop axis of the producer: position of the consumer's loop axis that can drive it; -1:
  /// none.
  std::vector<int64_t> consumer_axis;
  /// Per loop axis of the consumer: built only from axes that the producer lacks.
  std::vector<bool> consumer_only;
};

/// Cost: O(ids of both tensors).
[[nodiscard]] LoopAlignment align_loops(const TensorView* producer, const TensorView* consumer);

} // namespace nvfuser
