// How deep tensors may be inlined.
//
// A tensor is limited by its own axes and those of its consumers (`pair limits`), by reductions and
// by readers of other elements: a reader of a reduction's result cannot run in the loop that
// computes the reduction. A scan over threads is such a reduction in the loops over the items of a
// thread, and so is whatever a gather looks up.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/id_model.h"
#include "graph/pair_graph.h"
#include "ir/fusion.h"

namespace nvfuser::transform {

/// Alignments of neighbors, computed when first asked for. Transforms must not change meanwhile:
/// `shared_alignments` has others then.
class Alignments {
 public:
  const LoopAlignment& operator()(const TensorView* producer, const TensorView* consumer);

 private:
  std::map<std::pair<int64_t, int64_t>, LoopAlignment> known_; // by serials
};

/// Alignments that calls of a thread share, while the axes of the fusion stay as they are.
[[nodiscard]] std::shared_ptr<Alignments> shared_alignments(Fusion& fusion);

/// The tensors of the expression that makes `tensor`: itself and its siblings, which share every
/// loop.
[[nodiscard]] std::vector<TensorView*> with_siblings(TensorView* tensor);

/// Loop axes of `tensor` at whose end its elements are known, and not before: those it reduces, and
/// of a scan over threads the items of a thread.
[[nodiscard]] IterDomains combined_axes(const TensorView* tensor);

class InlineLimits {
 public:
  using Positions = std::unordered_map<const TensorView*, int64_t>;

  [[nodiscard]] static int64_t position_of(const Positions& positions, const TensorView* tensor);

  /// `uninlinable`: axes that nothing may be inlined into or past.
  explicit InlineLimits(Fusion& fusion, const std::vector<IterDomain*>& uninlinable = {});

  /// The deepest position for `tensor` and its siblings with regard to their axes and those of all
  /// consumers. It stops left of
  ///   * combined axes, unrolled axes and the un-inlinable of the producer,
  ///   * vectorized, grouped, tma and mma axes of either side,
  ///   * axes that a sibling has split or merged further: lowering gives them to all siblings,
  ///   * axes without a partner in a consumer, or with partners in another order. Axes of the
  ///     consumer that the producer lacks may stand between if it is the only consumer.
  /// 0 for inputs of the fusion and for tensors without readers.
  [[nodiscard]] int64_t pair_limit(TensorView* tensor);

  [[nodiscard]] Alignments& alignments() {
    return *shared_;
  }

  /// Lower positions of `adjustable` tensors until all of what follows holds.
  void lower(Positions& positions, const std::unordered_set<const TensorView*>& adjustable);

  /// Lower positions of `adjustable` tensors until no loop has two bindings, no tensor two loops
  /// that are bound to one hardware index, and no reduction a loop that others bind though its
  /// result is needed in all threads.
  ///   a[i0 threadIdx.x] -> t[i0 blockIdx.x]: a stays outside
  /// It is no limit of a position that is asked for: the axes may be bound later.
  void keep_bindings(Positions& positions, const std::unordered_set<const TensorView*>& adjustable);

  /// Lower positions of `adjustable` tensors until no loop is needed by what it needs itself.
  ///   a -> u -> b, a -> t <- b, a and b inlined into t: u would run before and after a's loop
  /// It is no limit of a position that is asked for: u may be inlined later.
  /// Whether any position was lowered.
  bool keep_ways_inside(
      Positions& positions, const std::unordered_set<const TensorView*>& adjustable);

 private:
  /// How many of the first axes of two siblings are the same ones.
  [[nodiscard]] int64_t common_axes(const TensorView* tensor, const TensorView* sibling) const;

  /// Lower positions of `adjustable` tensors that several expressions read, so that none is inside
  /// a loop that only some of them have: c[i1] inlined into b[b0, i1] runs inside the loop of b0,
  /// into another u[i1] it does not. Where the tensor that several read is not adjustable, the
  /// consumer that would bring it into such a loop stays outside.
  void keep_common_nests(
      Positions& positions, const std::unordered_set<const TensorView*>& adjustable);

  /// Lower positions of `adjustable` tensors until no reduction shares one of its reduced loops
  /// with a tensor that depends on its result. Positions that are not listed are the present ones.
  /// The tensor that is lowered is the one both are fed from: it is then kept for the second pass;
  /// if it is not adjustable, another that brings the two into one loop.
  ///   x_c -> s = sum(x_c, [1]) -> b -> y <- x_c: x_c stops before the reduced axis
  /// If a reduction would itself stand inside such a loop, of a broadcast that is resolved by the
  /// reduced axis, it is lowered as well.
  void separate_reductions(
      Positions& positions, const std::unordered_set<const TensorView*>& adjustable);

  /// Lower positions of `adjustable` tensors until every axis of a reduction that is not inlined
  /// there runs in a loop that no other tensor widens: an accumulator outside of that loop would
  /// add every element several times.
  ///   a[i0, b] -> s = sum(a, [0]) and a -> t = a + x[i0, i1]: a stops before its broadcast axis
  void keep_reductions_whole(
      Positions& positions, const std::unordered_set<const TensorView*>& adjustable);

  /// Lower positions of `adjustable` tensors until none stands in a loop over an axis of a tensor
  /// that it reads at other positions: what is looked up or shifted is complete behind the loop.
  /// Hardware indices are no loops: there a barrier stands between the two.
  ///   t -> p -> y = gather(p, q) and t -> q: t stops before the axis that is looked up
  void keep_readers_outside(
      Positions& positions, const std::unordered_set<const TensorView*>& adjustable);

  class LoopBindings;

  [[nodiscard]] bool stops_producer(const IterDomain* axis) const;
  [[nodiscard]] bool stops_either(const IterDomain* axis) const;
  [[nodiscard]] int64_t consumer_limit(
      const TensorView* producer, const TensorView* consumer, bool is_only_consumer);
  /// One pass of keep_common_nests. Whether a consumer was lowered, and another pass is needed.
  bool lower_beside_fixed(
      Positions& positions, const std::unordered_set<const TensorView*>& adjustable);
  [[nodiscard]] const ValGraph& graph(IdMappingMode mode);

  Fusion& fusion_;
  std::unordered_set<const IterDomain*> uninlinable_;
  std::shared_ptr<Alignments> shared_;
  Alignments& alignments_ = *shared_;
  std::shared_ptr<IdModel> model_; // asked for by the first reduction
};

} // namespace nvfuser::transform
