#include "eval/evaluator.h"

#include <array>
#include <complex>
#include <sstream>
#include <type_traits>
#include <unordered_set>
#include <variant>
#include <vector>

#include "base/errors.h"
#include "eval/scalar_operation.h"
#include "ir/pointwise.h"

namespace nvfuser {

namespace {

std::string value_text(const ScalarValue& value) {
  std::ostringstream out;
  out << std::boolalpha;
  std::visit(
      [&](const auto& number) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(number)>, std::monostate>) {
          out << number;
        }
      },
      value);
  return out.str();
}

bool is_same_number(const ScalarValue& a, const ScalarValue& b) {
  if (std::holds_alternative<int64_t>(a) && std::holds_alternative<int64_t>(b)) {
    return as_int(a) == as_int(b); // a double does not hold every int64
  }
  const std::complex<double> x = as_complex(a);
  const std::complex<double> y = as_complex(b);
  return x == y || (x != x && y != y); // NaN is itself
}

[[noreturn]] void throw_division_by_zero(const Val* val) {
  throw UserError({
      .headline = "Integer division by zero detected",
      .node = describe(val),
      .expected = {"a divisor other than 0"},
      .found = {val->definition()->inputs()[1]->to_inline_string(), " = 0"},
      .fix = {"check the sizes and factors it is computed from"},
  });
}

} // namespace

void ExpressionEvaluator::bind(const Val* val, const ScalarValue& value) {
  const ScalarValue converted = convert_value(value, val->dtype());
  if (val->is_const()) {
    if (!is_same_number(val->value(), value)) {
      throw UserError({
          .headline =
              {"Tried to bind to a constant value: ", value_text(val->value()), " as ",
               value_text(value)},
          .node = describe(val),
          .expected = {value_text(val->value())},
          .found = {value_text(value)},
          .fix = {"pass a value that agrees with the constant, or define it as symbolic"},
      });
    }
    return;
  }
  if (const auto known = evaluate(val)) {
    if (!is_same_number(*known, converted)) {
      throw UserError({
          .headline =
              {"Tried to bind to a value: ", val->to_inline_string(), "(which evaluated to ",
               value_text(*known), ") as ", value_text(converted)},
          .node = describe(val),
          .expected = {value_text(*known), ", from what is bound already"},
          .found = {value_text(converted)},
          .fix = {"sizes that share a symbol must be equal in all arguments"},
      });
    }
    return;
  }
  values_.emplace(val, converted);
}

void ExpressionEvaluator::bind(const std::string& text_name, const ScalarValue& value) {
  const auto [position, is_new] = named_values_.emplace(text_name, value);
  if (!is_new && !is_same_number(position->second, value)) {
    throw UserError({
        .headline =
            {"Tried to bind to a value: ", text_name, "(which evaluated to ",
             value_text(position->second), ") as ", value_text(value)},
        .node = {text_name},
        .expected = {value_text(position->second)},
        .found = {value_text(value)},
        .fix = {"bind each name once"},
    });
  }
}

void ExpressionEvaluator::override_value(const Val* val, const ScalarValue& value) {
  values_[val] = convert_value(value, val->dtype());
}

const ScalarValue* ExpressionEvaluator::find(const Val* val) const {
  if (val->is_const()) {
    return &val->value();
  }
  if (const auto known = values_.find(val); known != values_.end()) {
    return &known->second;
  }
  if (val->vtype() == ValType::NamedScalar) {
    const auto named = named_values_.find(static_cast<const NamedScalar*>(val)->text_name());
    return named == named_values_.end() ? nullptr : &named->second;
  }
  return nullptr;
}

std::optional<ScalarValue> ExpressionEvaluator::evaluate(const Val* root) {
  if (const ScalarValue* known = find(root)) {
    return *known;
  }
  std::unordered_set<const Val*> unknown;
  std::vector<const Val*> stack = {root};
  while (!stack.empty()) {
    const Val* val = stack.back();
    if (find(val) != nullptr || unknown.contains(val)) {
      stack.pop_back();
      continue;
    }
    const Step step = next_step(val, unknown);
    if (step.operand != nullptr) {
      stack.push_back(step.operand);
    } else if (has_value(step.result)) {
      values_.emplace(val, convert_value(step.result, val->dtype()));
    } else {
      unknown.insert(val);
    }
  }
  const ScalarValue* result = find(root);
  return result == nullptr ? std::nullopt : std::optional(*result);
}

/// The operand to look at next, or the result. A selection only looks at the side it takes, and
/// `&&` and `||` only at what decides them, as the kernel does: the other may divide by zero.
ExpressionEvaluator::Step ExpressionEvaluator::next_step(
    const Val* val, const std::unordered_set<const Val*>& unknown) const {
  const std::optional<ScalarOperation> operation = operation_of(val);
  if (!operation) {
    return {};
  }
  const bool is_select = operation->is_select();
  std::array<ScalarValue, 3> operands;
  size_t taken = 0; // the operand that was looked at last
  const std::vector<Val*>& inputs = val->definition()->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (is_select && i > 0 && (i == 1) != as_bool(operands[0])) {
      continue;
    }
    const ScalarValue* value = find(inputs[i]);
    if (value == nullptr) {
      return unknown.contains(inputs[i]) ? Step{} : Step{.operand = inputs[i], .result = {}};
    }
    operands[i] = *value;
    taken = i;
    if (const auto decided = i == 0 ? decided_by(*operation, *value) : std::nullopt) {
      return {.operand = nullptr, .result = *decided};
    }
  }
  if (is_select) {
    return {.operand = nullptr, .result = compute_copy(*operation, taken, operands[taken])};
  }
  if (divides_by_zero(*operation, operands)) {
    throw_division_by_zero(val);
  }
  return {.operand = nullptr, .result = compute(*operation, operands)};
}

int64_t ExpressionEvaluator::evaluate_int(const Val* val) {
  const auto value = evaluate(val);
  if (!value) {
    throw UserError({
        .headline = {"The value of ", val->to_inline_string(), " is not known"},
        .node = describe(val),
        .expected = {"every value it is computed from is bound"},
        .found = {"at least one is not"},
        .fix = {"bind the inputs it depends on"},
    });
  }
  return as_int(*value);
}

} // namespace nvfuser
