// The probability that a normal variable is below x, as a gelu writes it out, where nothing but
// products with it is rounded to 16 bits.
//
//   T2 = T1 * sqrt(1/2)   T3 = erf(T2)   T4 = 1 + T3   T5 = 0.5 * T4        T6 = T1 * T5
//
// So T5 may be computed from T1 by one polynomial and one instruction for 2^x
// (`approximate_normal_cdf`), with a relative error that a product keeps and a rounding hides. A
// sum with it may cancel, and keeps the exact form.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "codegen/rounded_values.h"
#include "lower/kernel.h"

namespace nvfuser {

class NormalProbabilities {
 public:
  NormalProbabilities() = default;
  /// Requires: final statements. Cost: O(statements).
  NormalProbabilities(const Kernel& kernel, const RoundedValues& rounded);

  /// The element whose probability a statement computes from it alone; nullptr: another statement.
  [[nodiscard]] const Val* argument_of(const BinaryOp& statement) const {
    const auto found = arguments_.find(&statement);
    return found == arguments_.end() ? nullptr : found->second;
  }
  /// Whether nothing reads what a statement makes.
  [[nodiscard]] bool leaves_unread(const Expr& statement) const {
    return unread_.contains(&statement);
  }

 private:
  void find_in(const Scope& scope, const RoundedValues& rounded);

  std::unordered_map<const BinaryOp*, const Val*> arguments_; // only looked up
  std::unordered_set<const Expr*> unread_;                    // only looked up
};

} // namespace nvfuser
