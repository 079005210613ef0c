#include "eval/evaluator.h"

#include <algorithm>
#include <complex>
#include <sstream>
#include <type_traits>
#include <unordered_set>
#include <variant>
#include <vector>

#include "base/errors.h"
#include "ir/pointwise.h"
#include "ir/scalar.h"

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

/// Whether the host can compute `val`, rather than only be told it.
const Expr* scalar_definition(const Val* val) {
  const Expr* definition = val->definition();
  if (definition == nullptr || !val->is_scalar()) {
    return nullptr;
  }
  const bool is_operation = definition->is_a<UnaryOp>() || definition->is_a<BinaryOp>() ||
                            definition->is_a<TernaryOp>() || definition->is_a<LoadStoreOp>();
  const bool reads_scalars = std::ranges::all_of(
      definition->inputs(), [](const Val* input) { return input->is_scalar(); });
  return is_operation && reads_scalars ? definition : nullptr;
}

bool is_integer_division(BinaryOpType op) {
  return op == BinaryOpType::Div || op == BinaryOpType::Mod || op == BinaryOpType::CeilDiv ||
         op == BinaryOpType::Remainder || op == BinaryOpType::Fmod;
}

/// The type in which an operation compares or computes.
DataType operand_type(const Expr& operation) {
  const auto* op = operation.as<BinaryOp>();
  if (op == nullptr || !is_comparison(op->op)) {
    return operation.output(0)->dtype();
  }
  const DataType types[] = {op->lhs->dtype(), op->rhs->dtype()};
  if (std::ranges::any_of(types, is_complex)) {
    return DataType::ComplexDouble;
  }
  if (std::ranges::any_of(types, is_floating_point)) {
    return DataType::Double;
  }
  return std::ranges::any_of(types, [](DataType type) { return type == DataType::UInt64; })
             ? DataType::UInt64
             : DataType::Int;
}

/// An operand as an operation in `type` reads it. UInt64 values beyond int64 are held as the bits
/// of a negative number, which only integer arithmetic takes for what they are.
ScalarValue read_operand(const Val* operand, const ScalarValue& value, DataType type) {
  if (operand->dtype() != DataType::UInt64 || is_integral(type)) {
    return value;
  }
  return convert_value(value, DataType::UInt64, is_boolean(type) ? DataType::Double : type);
}

ScalarValue compute_binary(const BinaryOp& op, const ScalarValue& a, const ScalarValue& b) {
  const DataType type = operand_type(op);
  const bool is_integer = is_integral(type) || is_boolean(type);
  if (is_integer && is_integer_division(op.op) && as_int(convert_value(b, type)) == 0) {
    throw UserError({
        .headline = "Integer division by zero detected",
        .node = describe(op.out),
        .expected = {"a divisor other than 0"},
        .found = {op.rhs->to_inline_string(), " = 0"},
        .fix = {"check the sizes and factors it is computed from"},
    });
  }
  return scalar::fold(op.op, a, b, type);
}

ScalarValue compute_ternary(
    const TernaryOp& op, const ScalarValue& a, const ScalarValue& b, const ScalarValue& c) {
  const DataType type = op.out->dtype();
  const auto is_less = [type](const ScalarValue& x, const ScalarValue& y) {
    const bool is_integer =
        std::holds_alternative<int64_t>(x) && std::holds_alternative<int64_t>(y);
    return is_integer ? as_bool(scalar::fold(BinaryOpType::LT, x, y, type))
                      : as_double(x) < as_double(y);
  };
  switch (op.op) {
    case TernaryOpType::Clamp: // NaN stays, also as a bound
      return scalar::fold(BinaryOpType::Min, scalar::fold(BinaryOpType::Max, a, b, type), c, type);
    case TernaryOpType::Threshold: // c where a <= b; NaN stays
      return convert_value(is_less(a, b) || is_same_number(a, b) ? c : a, type);
    case TernaryOpType::Lerp: {
      const ScalarValue range = scalar::fold(BinaryOpType::Sub, b, a, type);
      const ScalarValue part = scalar::fold(BinaryOpType::Mul, range, c, type);
      return scalar::fold(BinaryOpType::Add, a, part, type);
    }
    case TernaryOpType::Where:
    case TernaryOpType::Philox: break;
  }
  return {};
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
  const Expr* definition = scalar_definition(val);
  if (definition == nullptr) {
    return {};
  }
  const auto* ternary = definition->as<TernaryOp>();
  const bool is_where = ternary != nullptr && ternary->op == TernaryOpType::Where;
  const DataType type = operand_type(*definition);
  std::vector<ScalarValue> operands;
  const std::vector<Val*>& inputs = definition->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (is_where && i > 0 && (i == 1) != as_bool(operands.front())) {
      continue;
    }
    const ScalarValue* value = find(inputs[i]);
    if (value == nullptr) {
      return unknown.contains(inputs[i]) ? Step{} : Step{.operand = inputs[i], .result = {}};
    }
    operands.push_back(read_operand(inputs[i], *value, type));
    const auto* binary = definition->as<BinaryOp>();
    if (i == 0 && binary != nullptr &&
        ((binary->op == BinaryOpType::LogicalAnd && !as_bool(*value)) ||
         (binary->op == BinaryOpType::LogicalOr && as_bool(*value)))) {
      return {.operand = nullptr, .result = as_bool(*value)};
    }
  }
  if (is_where || definition->is_a<LoadStoreOp>()) {
    return {.operand = nullptr, .result = operands.back()};
  }
  if (const auto* unary = definition->as<UnaryOp>()) {
    return {.operand = nullptr, .result = scalar::fold(unary->op, operands[0], val->dtype())};
  }
  if (const auto* binary = definition->as<BinaryOp>()) {
    return {.operand = nullptr, .result = compute_binary(*binary, operands[0], operands[1])};
  }
  return {
      .operand = nullptr,
      .result = compute_ternary(*ternary, operands[0], operands[1], operands[2])};
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
