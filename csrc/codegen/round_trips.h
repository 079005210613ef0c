// Floats that are rounded to BFloat16, and read as Floats again.
//
//   T6 = bfloat16(T5)   T7 = float(T6) * T1      T6 = rounded(T5) where it is read
//
// One instruction rounds a Float and leaves it one. So T6 is not made where all that reads it takes
// it as a Float and stands in one list of statements with it, and T5 is a variable of that list.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

class RoundTrips {
 public:
  RoundTrips() = default;
  /// Requires: final statements. Cost: O(statements).
  explicit RoundTrips(const Kernel& kernel);

  /// The Float that an operand is rounded from; nullptr: it is read as it is.
  [[nodiscard]] const Val* rounded_by(const Val* operand) const {
    const auto found = sources_.find(operand);
    return found == sources_.end() ? nullptr : found->second;
  }
  /// Whether nothing reads what a statement makes.
  [[nodiscard]] bool leaves_unread(const Expr& statement) const {
    return unread_.contains(&statement);
  }

 private:
  /// Facts about a variable that a list of statements allocates.
  struct Variable {
    const Expr* allocate = nullptr;
    const Expr* made_by = nullptr; // the first statement that writes it
    bool has_one_value = true;
    std::vector<std::pair<const Expr*, const Val*>> reads; // as a Float: statement, operand
  };
  using Variables = std::unordered_map<const TensorView*, Variable>; // only looked up

  void find_in(const Scope& scope);
  void note(const Expr& statement, Variables& variables) const;
  /// Take a variable for a round trip if it is one.
  void decide(const TensorView* tensor, const Variables& variables);

  std::unordered_map<const Val*, const Val*> sources_; // only looked up
  std::unordered_set<const Expr*> unread_;             // only looked up
  std::unordered_set<const TensorView*> others_;       // that are no round trips in some list
};

} // namespace nvfuser
