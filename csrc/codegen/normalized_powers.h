// exp(x - max(x)) where every exponential of a row is only ever divided by their sum, as in a
// softmax: a factor that all of them have in common cancels.
//
//   T2 = max(T1)   T3 = T1 - T2   T4 = exp(T3)   T5 = sum(T4)   T6 = T4 / T5
//
// So T4 may be 2^(T1 * log2(e) - c), where c is T2 * log2(e), rounded: one fused multiply-add for
// an element instead of a difference and a product. Alone, T4 would have an error that grows with
// T2; but all of a row have the factor of the maximum's own, which is within 2^(1/256) of 1 while
// T2 is below 2^16. Elements of 16 bits above that are the maximum, or so far below that their
// exponential is 0 (runtime/cuda/approximate.cuh).
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "codegen/rounded_values.h"
#include "lower/kernel.h"

namespace nvfuser {

class NormalizedPowers {
 public:
  NormalizedPowers() = default;
  /// Requires: final statements. Cost: O(statements * softmaxes).
  NormalizedPowers(const Kernel& kernel, const RoundedValues& rounded);

  /// The difference whose operands the statement takes instead of its result; nullptr: it takes
  /// that.
  [[nodiscard]] const BinaryOp* difference_of(const UnaryOp& power) const {
    const auto found = differences_.find(&power);
    return found == differences_.end() ? nullptr : found->second;
  }
  /// Whether the exponentials about these maxima have a factor in common.
  [[nodiscard]] bool have_factor(const TensorView* maxima) const {
    return maxima_.contains(maxima);
  }
  /// Whether nothing reads what a statement makes.
  [[nodiscard]] bool leaves_unread(const Expr& statement) const {
    return unread_.contains(&statement);
  }

 private:
  std::unordered_map<const UnaryOp*, const BinaryOp*> differences_; // only looked up
  std::unordered_set<const TensorView*> maxima_;                    // only looked up
  std::unordered_set<const Expr*> unread_;                          // only looked up
};

} // namespace nvfuser
