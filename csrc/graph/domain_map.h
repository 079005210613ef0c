// PairwiseDomainMap: which axis of a producer is which axis of its consumer.
//
// A producer shows its logical axes, without those it reduced; a consumer takes them up as its root
// axes (its logical axes, where it has no root domain). Later transforms of the consumer
// (reshape, permute, pad ...) lie between its own root and logical domains and are not looked at.
#pragma once

#include <utility>
#include <vector>

#include "ir/tensor_view.h"

namespace nvfuser {

/// How to treat a broadcast that its consumer resolves: a pair of which one axis is a broadcast
/// and the other is larger.
enum class BroadcastPairs { Keep, Drop };

class PairwiseDomainMap {
 public:
  using Pair = std::pair<IterDomain*, IterDomain*>; // producer's axis, consumer's axis

  /// Error: `producer` is no operand of the definition of `consumer`.
  /// Cost: O(rank).
  PairwiseDomainMap(
      const TensorView* producer,
      const TensorView* consumer,
      BroadcastPairs broadcasts = BroadcastPairs::Keep);

  /// In the order of the consumer's root domain.
  [[nodiscard]] const std::vector<Pair>& pairs() const {
    return pairs_;
  }
  /// The partner of an axis; nullptr if it has none. Cost: O(rank).
  [[nodiscard]] IterDomain* consumer_of(const IterDomain* producer_axis) const;
  [[nodiscard]] IterDomain* producer_of(const IterDomain* consumer_axis) const;

  /// Logical axes that the consumer lacks: reduced by the producer, squeezed by the consumer, or
  /// addressed by the elements of another operand (gather).
  [[nodiscard]] const IterDomains& producer_only() const {
    return producer_only_;
  }
  /// Root axes that the producer lacks: new broadcasts, and positions of a gather.
  [[nodiscard]] const IterDomains& consumer_only() const {
    return consumer_only_;
  }

 private:
  std::vector<Pair> pairs_;
  IterDomains producer_only_;
  IterDomains consumer_only_;
};

/// Logical axes of a producer whose position its consumer computes with the elements of another
/// operand, and those beside them of which the consumer sees only a part (gather). Any element
/// along them may be read by any thread. Broadcasts have one element and are not listed. Error:
/// `producer` is no operand of the definition of `consumer`.
[[nodiscard]] IterDomains indexed_axes(const TensorView* producer, const TensorView* consumer);

/// Expressions on tensors that lead to an output, operands before results; all expressions on
/// tensors, as long as the fusion has no outputs.
[[nodiscard]] std::vector<Expr*> tensor_exprs(const Fusion& fusion);
/// The tensors those expressions read and write, and the inputs; in creation order.
[[nodiscard]] std::vector<TensorView*> scheduled_tensors(const Fusion& fusion);

} // namespace nvfuser
