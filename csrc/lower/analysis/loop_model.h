// LoopModel: which loops a kernel has, what each runs over, and which stand around each tensor.
//
// A *loop* is a class of loop axes, of one or several tensors, that one generated loop drives:
// axes left of a compute-at position together with the consumer's axes they are inlined into, and
// the axes of the outputs of one expression.
//
// Its *promoted* axis is what it runs over. Members may disagree: a broadcast runs once where its
// consumer runs N times. The promoted axis is a member that covers all others: it is built from
// every non-broadcast input axis that any member is built from. Where a tensor's own axis differs
// from the promoted one, the rest of its loop domain is *dragged along*: if the promoted axis is
// the outer part of a split by 4 of some other axis, the tensor's inner part of its split by 4
// becomes the inner part of that split. Dragged axes may be new: they live in the kernel's graph,
// never in the user's tensors.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/pointer_map.h"
#include "lower/analysis/input_covers.h"
#include "lower/kernel.h"

namespace nvfuser {

class ValGraph;

struct Loop {
  IterDomains members;              // producers before consumers
  std::vector<TensorView*> tensors; // the tensors they belong to, aligned with `members`
  IterDomain* promoted = nullptr;
  ParallelType parallel_type = ParallelType::Serial;
  /// Loop variable, hardware index, or 0 where the loop runs once and needs no variable.
  Val* index = nullptr;

  [[nodiscard]] Val* extent() const {
    return promoted->extent();
  }
  [[nodiscard]] bool is_hardware() const {
    return nvfuser::is_hardware_index(parallel_type);
  }
  /// Every member is a broadcast that no consumer resolves.
  [[nodiscard]] bool is_broadcast() const {
    return promoted->is_broadcast();
  }
};

using LoopNest = std::vector<Loop*>;

class LoopModel {
 public:
  /// Builds loops, promotions and nests for every tensor of the kernel's fusion, up to the first
  /// refusal, which the kernel notes.
  explicit LoopModel(Kernel& kernel);

  /// Loops around the definition of `tensor`, outermost first: those it is inlined into, then those
  /// of its own axes.
  [[nodiscard]] const LoopNest& nest(const TensorView* tensor) const;
  /// The leading loops of the nest that all consumers share; the tensor's storage lives inside
  /// them.
  [[nodiscard]] int64_t shared_depth(const TensorView* tensor) const;
  /// The loop that drives a loop axis.
  [[nodiscard]] Loop* loop_of(const IterDomain* axis) const;
  /// Every loop, in a deterministic order.
  [[nodiscard]] const std::deque<Loop>& loops() const {
    return loops_;
  }
  [[nodiscard]] std::deque<Loop>& loops() {
    return loops_;
  }
  /// Extents of hardware indices: whether every axis bound to it has the launched extent.
  [[nodiscard]] bool is_exact(ParallelType type) const {
    return is_exact_[hardware_type_index(type)];
  }
  void set_exact(ParallelType type, bool is_exact) {
    is_exact_[hardware_type_index(type)] = is_exact;
  }

 private:
  void refuse_self_mappings();
  void refuse_ambiguous_axes();
  void collect_loops();
  void choose_promotions();
  /// The member of `loop` that is built from the axes of all others.
  IterDomain* covering_member(const Loop& loop);
  /// Axes of a tensor whose loops run over others, and how far up these are made alike.
  using Promotions = std::map<const IterDomain*, IterDomain*>; // looked up only
  [[nodiscard]] Promotions promotions_of(const TensorView* tensor) const;
  /// Let a loop run over `axis`, if its members need that; whether it does now.
  bool promote(Loop& loop, IterDomain* axis);
  /// Let `tensor`'s own axes follow its promoted loops; whether a promotion changed.
  bool drag_along(TensorView* tensor);
  void choose_parallel_types();
  /// Nests of all tensors. Tensors name hardware indices, which are no loops, at different places:
  ///   t[i] -> a[z, i], t[i] -> b[i, z]
  /// Where that keeps consumers of one tensor from standing in the same loops, such indices move
  /// inside of them: a[i, z]. Elsewhere they stay where they are, since memory that lies in the
  /// loop of a thread is the thread's own.
  void build_nests();
  /// Nests of all tensors in the order known so far.
  void place_in_loops();
  /// Whether every tensor begins with the loops that it shares with all consumers. If not, notes
  /// an order in which the next nests come nearer to that, or a refusal.
  [[nodiscard]] bool settle_order();
  /// Where two nests with the same last loop differ in hardware indices only: these stand inside of
  /// that loop. Whether that is new.
  bool note_order(const LoopNest& left, const LoopNest& right);
  [[nodiscard]] LoopNest move_hardware_inside(LoopNest nest) const;
  void refuse_repeated_bindings();
  /// The loops around `consumer` that drive the first `position` axes of `tensor`.
  [[nodiscard]] LoopNest shared_loops(
      const TensorView* tensor, const TensorView* consumer, int64_t position) const;
  /// The loops around `consumer` that a tensor inlined into it shares.
  struct OuterLoops {
    const TensorView* consumer;
    LoopNest loops;
  };
  [[nodiscard]] std::vector<OuterLoops> loops_shared_with_consumers(const TensorView* tensor) const;
  /// The loops that `tensor` shares with all consumers: its storage lives inside them.
  [[nodiscard]] LoopNest common_loops(const TensorView* tensor) const;
  /// Those and the loops it shares with the consumer it is computed with.
  [[nodiscard]] LoopNest outer_loops(TensorView* tensor) const;

  Kernel& kernel_;
  ValGraph& exact_;
  std::vector<TensorView*> tensors_;
  InputCovers covers_;
  std::deque<Loop> loops_; // stable addresses
  PointerMap<IterDomain, Loop*> loop_of_;
  std::unordered_map<const TensorView*, LoopNest> nests_;
  std::unordered_map<const TensorView*, int64_t> shared_depths_;
  /// Hardware indices that stand inside of a loop in every nest that has both; looked up only.
  std::unordered_map<const Loop*, std::set<const Loop*>> inside_;
  std::array<bool, 6> is_exact_{};
};

/// The tensor that stands for all results of `expr`: they have one loop nest.
[[nodiscard]] TensorView* first_output(const Expr* expr);

/// Build `kernel.id_model` and `kernel.loop_model` from the present schedule.
[[nodiscard]] std::optional<Refusal> model_loops(Kernel& kernel);

} // namespace nvfuser
