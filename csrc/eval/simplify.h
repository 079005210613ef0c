// IndexSimplifier: puts integer index expressions into a normal form and proves facts about them.
//
// Everything printed in a kernel as an address, a predicate or a loop bound goes through this. Two
// expressions that are the same function of their leaves, as far as the rules of
// eval/index_algebra.h can tell, become the same Val.
//
//   IndexSimplifier simplifier(kernel);
//   simplifier.set_range(o, ceil_div(n, 4));          // 0 <= o < ceilDiv(n, 4)
//   simplifier.set_range(i, four);                    // 0 <= i < 4
//   simplifier.simplify(((o * 4 + i) / 4) * 4 + i);   // ( ( o * 4 ) + i )
//   simplifier.prove_lt(o * 4, n);                    // true
//
// The assumptions, and no others:
//   - Indices are integers that do not overflow; lowering chooses their width so.
//   - `/` and `%` truncate, as in C. Rules of Euclidean division are used only on operands that are
//     proven not to be negative.
//   - An expression is only looked at where it has a value: a divisor is not 0 there. Extents are
//     >= 0, so a divisor made of extents is >= 1.
//   - A leaf with a range only has a value inside of its loop, and a loop that runs has an extent
//     >= 1. So `x % n < n` holds where `x % n` is computed, though an extent n may well be 0.
#pragma once

#include <memory>
#include <vector>

#include "ir/statement.h"

namespace nvfuser {

/// Make one per kernel: what it has simplified once, it remembers. It makes new Vals in `fusion`.
class IndexSimplifier {
 public:
  /// Knows from the start that the extents of the fusion's iteration domains are not negative.
  explicit IndexSimplifier(Fusion& fusion);
  ~IndexSimplifier();
  IndexSimplifier(IndexSimplifier&&) noexcept;
  IndexSimplifier& operator=(IndexSimplifier&&) noexcept;

  /// 0 <= leaf < extent. `leaf` is a loop index; it is not looked through if it has a definition.
  void set_range(Val* leaf, Val* extent);
  /// `val` is an integer >= 0.
  void set_nonnegative(Val* val);
  /// a % b == 0, which is checked somewhere else: at launch, where the extent of a vectorized axis
  /// is known. Then a split of `a` by `b` has no holes, and ceilDiv(a, b) * b is `a`. Best called
  /// before expressions are simplified: a new fact makes the simplifier forget what it has worked
  /// out.
  void assume_divisible(Val* a, Val* b);

  /// The normal form of an integer or boolean expression; anything else is returned as it is.
  /// Comparisons that always or never hold become `true` and `false`.
  [[nodiscard]] Val* simplify(Val* expr);

  /// An expression m, if possible with fewer terms than `index`, such that m < extent exactly if
  /// index < extent, and m >= 0 exactly if index >= 0: for a multiple n of 4, and i in [0, 4), the
  /// test o * 4 + i < n is o * 4 < n.
  [[nodiscard]] Val* part_that_decides(Val* index, Val* extent);

  // -- Proofs: true only if the claim holds wherever both sides have a value. --
  [[nodiscard]] bool prove_lt(Val* a, Val* b);
  [[nodiscard]] bool prove_le(Val* a, Val* b);
  [[nodiscard]] bool prove_nonnegative(Val* a);
  /// a % b == 0
  [[nodiscard]] bool prove_divisible(Val* a, Val* b);
  [[nodiscard]] bool prove_equal(Val* a, Val* b);

  // -- Extrema: a bound on `expr` while the leaves in `over` run over their ranges and all others
  // stay as they are. Attained for sums of leaves; a remainder by m is taken to reach 0 and m - 1
  // (the ends of a loop do not bound it). nullptr: no bound is known. --
  [[nodiscard]] Val* max_over(Val* expr, const std::vector<Val*>& over);
  [[nodiscard]] Val* min_over(Val* expr, const std::vector<Val*>& over);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace nvfuser
