// Replay: give a tensor the loop transforms of a neighbor.
//
// Axes are mapped first, where the two tensors touch (a producer's logical axes, a consumer's root
// axes), and the neighbor's transforms are then repeated on the mapped axes; positions are a
// result.
//   * A transform that the target already has is taken, not made again.
//   * A merge with an axis of size 1 that the target lacks is skipped (graph/pair_graph.h).
//   * A transform of axes of which the target lacks some, or which are used up between its own root
//     and logical domains, is not repeated: these axes have no counterpart.
//   * A resize is repeated if it provably grows the axis: a producer of a pad gets loops with the
//     pad's holes. A crop is not: the target has elements outside.
//   * What the target has beyond the neighbor's transforms stays: transforms of other axes, and
//     further transforms of an axis that corresponds.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser::transform {

/// Where the target of a replay is, seen from the tensor it is replayed like.
enum class Direction { ToProducer, ToConsumer, ToSibling };

struct Replay {
  /// The new loop domain of the target: axes that correspond to the source's, in the source's
  /// order, then all others.
  IterDomains loop;
  /// Source's loop axis and the target's axis for it. Further transforms of the target's axis are
  /// not applied, so it need not be in `loop`.
  std::vector<std::pair<IterDomain*, IterDomain*>> axes;
  /// Leading axes of `loop` that correspond to the source's.
  int64_t position = 0;

  /// The target's axes that correspond: the source of the next replay.
  [[nodiscard]] IterDomains corresponding() const;
};

/// Replay `source_axes`, leading loop axes of `source`, on `target`. Changes neither tensor; new
/// ids belong to the fusion. The axes need not be the loop domain that `source` has now. Says no to
/// a merge that would join a reduction with another axis, and to a split of a parallelized axis.
/// Cost: O(transforms of both tensors).
[[nodiscard]] std::optional<Refusal> try_replay(
    const TensorView* source,
    const IterDomains& source_axes,
    const TensorView* target,
    Direction direction,
    Replay& result);

/// Says no to a loop domain that changes axes inside a compute-at or produce position.
[[nodiscard]] std::optional<Refusal> find_wrong_replay(
    const TensorView* target, const IterDomains& loop);
/// Give `target` the loop domain of a replay that is not refused; nothing happens if it has it
/// already.
void apply_replay(TensorView* target, const IterDomains& loop);

} // namespace nvfuser::transform
