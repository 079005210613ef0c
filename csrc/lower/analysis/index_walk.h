// IndexWalk: indices of iteration domains, computed by walking the exact graph from the loops.
//
// Known at first are the promoted axes of the loops around a statement: their index is the loop's.
// From these the walk goes over transforms in both directions until the wanted axes are known:
//   split   backward: outer * extent(inner) + inner
//           forward:  in / extent(inner), in % extent(inner)
//   merge   backward: out / extent(inner), out % extent(inner)
//           forward:  outer * extent(inner) + inner
//   swizzle likewise.
//   resize  out = in + left
// The walk also knows which axes may be *holes*: values a loop visits that lie outside the axis,
// made by splits that do not divide and by resizes.
//
// The graph holds all axes of the kernel. A walk goes only as far as it is asked, in the order of
// the steps from the loops: the way to an axis is the same whatever was asked before. So statements
// in the same loops share one walk, and what it found out about an axis is found out once.
//
// Two resizes can lead from one class to another, or in a circle, with different offsets: x[:16] +
// x[16:]. So only those are walked that schedule the tensor at hand. The one between its root and
// logical domains (slice, pad) is taken explicitly, and the walk to the operand begins anew with
// the positions it leads to.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lower/analysis/loop_model.h"

namespace nvfuser {

class IndexSimplifier;
class ValGraph;

class IndexWalk {
  struct Way;

 public:
  /// Walks that statements share, by the axes and indices of their loops.
  class Shared {
    friend class IndexWalk;
    std::map<std::vector<const Val*>, std::shared_ptr<Way>> ways_;
  };

  /// For statements that define `tensor`. `zero_lane`: a vectorized loop whose index is taken as 0;
  /// nullptr: none.
  IndexWalk(
      Kernel& kernel,
      IndexSimplifier& simplifier,
      const LoopNest& nest,
      const TensorView* tensor,
      const Loop* zero_lane,
      Shared& shared);

  using Positions = std::vector<std::pair<IterDomain*, Val*>>; // axes and their indices

  /// The walk through an operand that is read at other positions than those of the loops: from its
  /// axes in `positions` and the loops that it shares with its readers.
  [[nodiscard]] IndexWalk at(const TensorView* operand, const Positions& positions) const;

  /// Simplified index of `id`; an unreachable axis of one position has 0, another one is an error
  /// that prints both domains.
  [[nodiscard]] Val* index_of(IterDomain* id, const TensorView* tensor);

  /// The axis that both were taken apart from in one step, as its outer and inner factor; nullptr:
  /// there is none.
  [[nodiscard]] IterDomain* product_of(const IterDomain* outer, const IterDomain* inner);

  /// Tests that say, together, that no axis on the way from the loops to `ids` is a hole. Provable
  /// ones are left out.
  [[nodiscard]] std::vector<RangeTest> hole_tests(const IterDomains& ids, const TensorView* tensor);

 private:
  struct Step {
    const Expr* expr;
    bool is_backward;
  };
  class HoleTests;
  /// The known part of a class: its index, or the step that leads to it. An index is made when it
  /// is first asked for: a walk reaches many more axes than a statement needs.
  struct Known {
    Val* index = nullptr;
    std::optional<size_t> step; // none: a loop, or a given position
    /// Whether a test of the axis says that none on the way to it is a hole; no value: not known.
    std::optional<bool> covers_way;
  };
  /// How far a walk has come.
  struct Way {
    std::unordered_map<int64_t, Known> known; // by class of the exact graph
    std::vector<int64_t> reached;             // classes, in order
    size_t next = 0;                          // of `reached`, to go on from
    std::vector<Step> steps;
  };
  /// Nothing is known yet.
  IndexWalk(
      Kernel& kernel, IndexSimplifier& simplifier, const LoopNest& nest, const TensorView* tensor);
  /// Begin at the loops.
  void learn_loops(const Loop* zero_lane);
  [[nodiscard]] bool is_known(const Val* id) const;
  /// Whether the loops lead to `id`; walks on until that is known.
  [[nodiscard]] bool finds(const Val* id);
  /// The steps from the next axis that was reached.
  void take_steps();
  [[nodiscard]] bool is_walked(const Resize* resize) const;
  void learn(const Val* id, Val* index);
  void reach(const Val* id, std::optional<size_t> step, Val* index);
  void try_step(const Expr* expr);
  /// The index of an axis that is known.
  Val* known_index(const IterDomain* id);
  /// Whether an axis and all that it is mapped to are broadcasts. A reduction of one is none: its
  /// one element must be told from holes.
  [[nodiscard]] bool is_broadcast_for_all(const IterDomain* id) const;
  /// Make the indices of the classes that a step led to.
  void take_step(size_t step);
  template <typename Set>
  void take_swizzle(const Swizzle& swizzle, bool is_backward, const Set& set);
  /// The axis to test instead of `id`: a product is in range exactly if its outer factor is, and
  /// comparing it takes no division.
  [[nodiscard]] IterDomain* cheapest_to_test(IterDomain* id);
  void assume_unreached_ones(IterDomain* target);
  /// The test that `id`, which is known, needs; none if it is always in range.
  [[nodiscard]] std::optional<RangeTest> test_of(IterDomain* id);
  /// Whether no axis on the way to `id` is a hole while `id` is in range.
  [[nodiscard]] bool covers_way(const IterDomain* id);
  [[nodiscard]] bool covers_step(const IterDomain* id, const Step& step);
  /// Whether a quotient in range says nothing: -1 / n is 0, and x / 0 is -1.
  [[nodiscard]] bool may_quotients_mislead() const;

  Kernel& kernel_;
  IndexSimplifier& simplifier_;
  ValGraph& exact_;
  const LoopNest& nest_;
  std::shared_ptr<Way> way_;
  bool is_shared_ = false;                  // `way_`, which then holds only what follows from loops
  std::unordered_set<const Expr*> resizes_; // representatives of those that are walked
  bool has_resized_ = false;                // some index may be negative
};

} // namespace nvfuser
