#include "eval/scalar_operation.h"

#include <algorithm>
#include <complex>

#include "ir/pointwise.h"
#include "ir/scalar.h"

namespace nvfuser {
namespace {

using Operands = std::array<ScalarValue, 3>;

BinaryOpType binary_op(const ScalarOperation& operation) {
  return static_cast<BinaryOpType>(operation.op);
}

bool is_integer_division(BinaryOpType op) {
  return op == BinaryOpType::Div || op == BinaryOpType::Mod || op == BinaryOpType::CeilDiv ||
         op == BinaryOpType::Remainder || op == BinaryOpType::Fmod;
}

/// The type in which an operation compares or computes.
DataType operand_type(const ScalarOperation& operation) {
  if (operation.kind != ScalarOperation::Kind::Binary || !is_comparison(binary_op(operation))) {
    return operation.result;
  }
  const std::span<const DataType> types(operation.operands.data(), 2);
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
ScalarValue read_operand(DataType dtype, const ScalarValue& value, DataType type) {
  if (dtype != DataType::UInt64 || is_integral(type)) {
    return value;
  }
  return convert_value(value, DataType::UInt64, is_boolean(type) ? DataType::Double : type);
}

Operands read_operands(const ScalarOperation& operation, std::span<const ScalarValue> values) {
  const DataType type = operand_type(operation);
  Operands operands;
  for (size_t i = 0; i < operation.num_operands(); ++i) {
    operands[i] = read_operand(operation.operands[i], values[i], type);
  }
  return operands;
}

bool is_same_number(const ScalarValue& a, const ScalarValue& b) {
  if (std::holds_alternative<int64_t>(a) && std::holds_alternative<int64_t>(b)) {
    return as_int(a) == as_int(b); // a double does not hold every int64
  }
  const std::complex<double> x = as_complex(a);
  const std::complex<double> y = as_complex(b);
  return x == y || (x != x && y != y); // NaN is itself
}

ScalarValue compute_ternary(TernaryOpType op, DataType type, const Operands& operands) {
  const auto& [a, b, c] = operands;
  const auto is_less = [type](const ScalarValue& x, const ScalarValue& y) {
    const bool is_integer =
        std::holds_alternative<int64_t>(x) && std::holds_alternative<int64_t>(y);
    return is_integer ? as_bool(scalar::fold(BinaryOpType::LT, x, y, type))
                      : as_double(x) < as_double(y);
  };
  switch (op) {
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

// ---- Overflow -----------------------------------------------------------------------------------

using Wide = __int128;

Wide as_wide(const ScalarValue& value, DataType type) {
  const int64_t bits = as_int(value);
  return type == DataType::UInt64 ? Wide{static_cast<uint64_t>(bits)} : Wide{bits};
}

/// An integer of more than 64 bits that remembers whether it left the range of a type.
class RangedInteger {
 public:
  RangedInteger(Wide value, DataType type) : value_(value), type_(type) {
    const int64_t bits = size_bits(type);
    const Wide limit = Wide{1} << (is_unsigned(type) ? bits : bits - 1);
    is_outside_ = value >= limit || value < (is_unsigned(type) ? Wide{0} : -limit);
  }
  [[nodiscard]] bool is_outside() const {
    return is_outside_;
  }
  RangedInteger operator+(const RangedInteger& other) const {
    return with(value_ + other.value_, other);
  }
  RangedInteger operator-(const RangedInteger& other) const {
    return with(value_ - other.value_, other);
  }
  RangedInteger operator*(const RangedInteger& other) const {
    Wide product = 0;
    const bool is_wider = __builtin_mul_overflow(value_, other.value_, &product);
    RangedInteger result = with(product, other);
    result.is_outside_ = result.is_outside_ || is_wider;
    return result;
  }
  RangedInteger operator/(const RangedInteger& other) const {
    return with(value_ / other.value_, other);
  }
  [[nodiscard]] RangedInteger power(Wide exponent) const {
    RangedInteger result(1, type_);
    RangedInteger factor = *this;
    while (exponent > 0) { // a negative power is a fraction, which fits
      result = exponent % 2 != 0 ? result * factor : result;
      exponent /= 2;
      factor = exponent > 0 ? factor * factor : factor;
    }
    return result;
  }

 private:
  [[nodiscard]] RangedInteger with(Wide value, const RangedInteger& other) const {
    RangedInteger result(value, type_);
    result.is_outside_ = result.is_outside_ || is_outside_ || other.is_outside_;
    return result;
  }

  Wide value_;
  DataType type_;
  bool is_outside_ = false;
};

bool unary_overflows(UnaryOpType op, Wide arg, DataType type) {
  switch (op) {
    case UnaryOpType::Neg: return RangedInteger(-arg, type).is_outside();
    case UnaryOpType::Abs: return RangedInteger(arg < 0 ? -arg : arg, type).is_outside();
    case UnaryOpType::BitCeil: {
      Wide power = 1;
      while (power < arg) {
        power <<= 1;
      }
      return RangedInteger(power, type).is_outside();
    }
    default: return false;
  }
}

bool binary_overflows(BinaryOpType op, Wide lhs, Wide rhs, DataType type) {
  const RangedInteger a(lhs, type);
  const RangedInteger b(rhs, type);
  switch (op) {
    case BinaryOpType::Add: return (a + b).is_outside();
    case BinaryOpType::Sub: return (a - b).is_outside();
    case BinaryOpType::Mul: return (a * b).is_outside();
    case BinaryOpType::Div:
    case BinaryOpType::CeilDiv: return (a / b).is_outside();
    case BinaryOpType::Pow: return a.power(rhs).is_outside();
    default: return false;
  }
}

} // namespace

std::optional<ScalarOperation> operation_of(const Val* val) {
  const Expr* definition = val->definition();
  if (definition == nullptr || !val->is_scalar() ||
      !std::ranges::all_of(
          definition->inputs(), [](const Val* input) { return input->is_scalar(); })) {
    return std::nullopt;
  }
  ScalarOperation operation{.result = val->dtype()};
  if (const auto* unary = definition->as<UnaryOp>()) {
    operation.kind = ScalarOperation::Kind::Unary;
    operation.op = static_cast<uint8_t>(unary->op);
  } else if (const auto* binary = definition->as<BinaryOp>()) {
    operation.kind = ScalarOperation::Kind::Binary;
    operation.op = static_cast<uint8_t>(binary->op);
  } else if (const auto* ternary = definition->as<TernaryOp>()) {
    operation.kind = ScalarOperation::Kind::Ternary;
    operation.op = static_cast<uint8_t>(ternary->op);
  } else if (!definition->is_a<LoadStoreOp>()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < operation.num_operands(); ++i) {
    operation.operands[i] = definition->inputs()[i]->dtype();
  }
  return operation;
}

std::optional<bool> decided_by(const ScalarOperation& operation, const ScalarValue& first) {
  const bool value = as_bool(first);
  const bool decides = operation.is(BinaryOpType::LogicalAnd)  ? !value
                       : operation.is(BinaryOpType::LogicalOr) ? value
                                                               : false;
  return decides ? std::optional(value) : std::nullopt;
}

bool divides_by_zero(const ScalarOperation& operation, std::span<const ScalarValue> operands) {
  if (operation.kind != ScalarOperation::Kind::Binary ||
      !is_integer_division(binary_op(operation))) {
    return false;
  }
  const DataType type = operand_type(operation);
  return (is_integral(type) || is_boolean(type)) && as_int(convert_value(operands[1], type)) == 0;
}

ScalarValue compute(const ScalarOperation& operation, std::span<const ScalarValue> operands) {
  const Operands read = read_operands(operation, operands);
  const DataType type = operand_type(operation);
  ScalarValue result;
  switch (operation.kind) {
    case ScalarOperation::Kind::Copy: result = read[0]; break;
    case ScalarOperation::Kind::Unary:
      result = scalar::fold(static_cast<UnaryOpType>(operation.op), read[0], type);
      break;
    case ScalarOperation::Kind::Binary:
      result = scalar::fold(binary_op(operation), read[0], read[1], type);
      break;
    case ScalarOperation::Kind::Ternary:
      if (operation.is_select()) {
        return compute_copy(
            operation, as_bool(read[0]) ? 1 : 2, operands[as_bool(read[0]) ? 1 : 2]);
      }
      result = compute_ternary(static_cast<TernaryOpType>(operation.op), type, read);
      break;
  }
  return has_value(result) ? convert_value(result, operation.result) : ScalarValue();
}

ScalarValue compute_copy(
    const ScalarOperation& operation, size_t taken, const ScalarValue& operand) {
  return convert_value(
      read_operand(operation.operands[taken], operand, operation.result), operation.result);
}

bool overflows(const ScalarOperation& operation, std::span<const ScalarValue> operands) {
  const DataType type = operation.result;
  if (!is_integral(type)) {
    return false;
  }
  const size_t first = operation.is_select() ? 1 : 0; // whose type is that of the result
  for (size_t i = first; i < operation.num_operands(); ++i) {
    // A side that is not taken has no value.
    if (has_value(operands[i]) && !is_representable(operands[i], operation.operands[i], type)) {
      return true;
    }
  }
  const auto wide = [&](size_t i) {
    return as_wide(convert_value(operands[i], operation.operands[i], type), type);
  };
  switch (operation.kind) {
    case ScalarOperation::Kind::Copy: return false;
    case ScalarOperation::Kind::Unary:
      return unary_overflows(static_cast<UnaryOpType>(operation.op), wide(0), type);
    case ScalarOperation::Kind::Binary:
      return binary_overflows(binary_op(operation), wide(0), wide(1), type);
    case ScalarOperation::Kind::Ternary: {
      if (operation.op != static_cast<uint8_t>(TernaryOpType::Lerp)) {
        return false;
      }
      const RangedInteger a(wide(0), type);
      const RangedInteger b(wide(1), type);
      const RangedInteger c(wide(2), type);
      return (a + (b - a) * c).is_outside();
    }
  }
  return false;
}

} // namespace nvfuser
