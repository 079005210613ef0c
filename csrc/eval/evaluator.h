// ExpressionEvaluator: computes scalars on the host once enough of them are known.
//
//   ExpressionEvaluator evaluator;
//   evaluator.bind(extent, int64_t{1000});
//   evaluator.evaluate(ceil_div(extent, 128));   // 8
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/statement.h"

namespace nvfuser {

/// Results have the type, width and rounding that the printed kernel would give them; integer
/// division truncates, and by zero it is an error.
class ExpressionEvaluator {
 public:
  /// Let `val` be `value` (converted to its dtype). Throws UserError if it is known to be another.
  void bind(const Val* val, const ScalarValue& value);
  /// Let every NamedScalar of that name be `value`: `blockDim.x`.
  void bind(const std::string& text_name, const ScalarValue& value);
  /// Let `val` be `value`, whatever it would be computed as.
  void override_value(const Val* val, const ScalarValue& value);

  /// The value of a scalar; empty if it depends on something unknown. Each expression is computed
  /// once; any depth of expressions is fine.
  [[nodiscard]] std::optional<ScalarValue> evaluate(const Val* val);
  /// The same for an integer. Throws UserError, naming `val`, if it is not known.
  [[nodiscard]] int64_t evaluate_int(const Val* val);

 private:
  struct Step {
    const Val* operand = nullptr; // to evaluate first
    ScalarValue result;           // nothing: unknown
  };
  [[nodiscard]] const ScalarValue* find(const Val* val) const;
  [[nodiscard]] Step next_step(const Val* val, const std::unordered_set<const Val*>& unknown) const;

  std::unordered_map<const Val*, ScalarValue> values_;
  std::unordered_map<std::string, ScalarValue> named_values_;
};

} // namespace nvfuser
