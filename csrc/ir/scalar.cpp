#include "ir/scalar.h"

#include <limits>
#include <optional>

#include "ir/all_nodes.h"
#include "ir/fusion.h"

namespace nvfuser::scalar {
namespace {

Fusion& fusion_of(const Val* a) {
  return *a->fusion();
}

/// Wider types first: the result of an operation has the first type that an operand has.
DataType common_type(const Val* a, const Val* b) {
  static constexpr DataType kOrder[] = {
      DataType::ComplexDouble, DataType::ComplexFloat, DataType::Double, DataType::Float,
      DataType::BFloat16,      DataType::Half,         DataType::Index,  DataType::UInt64,
      DataType::Int,           DataType::UInt32,       DataType::Int32};
  if (a->dtype() == b->dtype()) {
    return a->dtype();
  }
  for (const DataType type : kOrder) {
    if (a->dtype() == type || b->dtype() == type) {
      return type;
    }
  }
  return DataType::Int;
}

/// Constants of sizes recur: zero, one, true and false are shared.
Val* constant(Fusion& fusion, const ScalarValue& value, DataType dtype) {
  if (dtype == DataType::Index && as_int(value) == 0) {
    return fusion.zero();
  }
  if (dtype == DataType::Index && as_int(value) == 1) {
    return fusion.one();
  }
  if (is_boolean(dtype)) {
    return as_bool(value) ? fusion.true_val() : fusion.false_val();
  }
  return fusion.new_constant(value, dtype);
}

Val* make_binary(BinaryOpType op, Val* a, Val* b, DataType dtype) {
  Val* out = fusion_of(a).new_scalar(dtype);
  fusion_of(a).make<BinaryOp>({.out = out, .lhs = a, .rhs = b, .op = op});
  return out;
}

/// The constant result, if both operands are constant and it has one.
Val* folded(BinaryOpType op, Val* a, Val* b, DataType operand_type, DataType dtype) {
  if (!a->is_const() || !b->is_const()) {
    return nullptr;
  }
  const auto operand = [&](const Val* val) {
    return convert_value(val->value(), val->dtype(), operand_type);
  };
  const ScalarValue value = fold(op, operand(a), operand(b), operand_type);
  return has_value(value) ? constant(fusion_of(a), value, dtype) : nullptr;
}

struct WithConstant {
  Val* x = nullptr;
  int64_t c = 0;
};

/// `x` and `c` where `a` is computed as `x op c` with an integer constant.
std::optional<WithConstant> match(const Val* a, BinaryOpType op) {
  const Expr* definition = a->definition();
  const BinaryOp* binary = definition == nullptr ? nullptr : definition->as<BinaryOp>();
  // A change of type between the two operations would be lost.
  if (binary == nullptr || binary->op != op || !binary->rhs->is_const_int() ||
      binary->lhs->dtype() != a->dtype() || !is_integral(a->dtype())) {
    return std::nullopt;
  }
  return WithConstant{binary->lhs, as_int(binary->rhs->value())};
}

/// `x + c`, written `x - c` for a negative constant; unsigned values keep the addition.
Val* add_constant(Val* x, int64_t c, DataType dtype) {
  if (c == 0 && x->dtype() == dtype) {
    return x;
  }
  Fusion& fusion = fusion_of(x);
  const bool is_difference =
      c < 0 && c != std::numeric_limits<int64_t>::min() && !is_unsigned(dtype);
  return make_binary(
      is_difference ? BinaryOpType::Sub : BinaryOpType::Add, x,
      constant(fusion, is_difference ? -c : c, dtype), dtype);
}

/// `x + c` for an integer constant, constants of nested sums added up.
Val* add_folding(Val* x, int64_t c, DataType dtype) {
  const auto wrapped_sum = [](int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  };
  const auto wrapped_negation = [](int64_t a) {
    return static_cast<int64_t>(-static_cast<uint64_t>(a));
  };
  if (x->dtype() == dtype) {
    if (const auto sum = match(x, BinaryOpType::Add)) {
      return add_constant(sum->x, wrapped_sum(sum->c, c), dtype);
    }
    if (const auto difference = match(x, BinaryOpType::Sub)) {
      return add_constant(difference->x, wrapped_sum(c, wrapped_negation(difference->c)), dtype);
    }
  }
  return add_constant(x, c, dtype);
}

} // namespace

Val* add(Val* a, Val* b) {
  const DataType dtype = common_type(a, b);
  if (Val* value = folded(BinaryOpType::Add, a, b, dtype, dtype)) {
    return value;
  }
  if (a->is_const()) {
    std::swap(a, b);
  }
  if (is_integral(dtype) && b->is_const_int()) {
    return add_folding(a, as_int(b->value()), dtype);
  }
  return make_binary(BinaryOpType::Add, a, b, dtype);
}

Val* sub(Val* a, Val* b) {
  const DataType dtype = common_type(a, b);
  if (Val* value = folded(BinaryOpType::Sub, a, b, dtype, dtype)) {
    return value;
  }
  if (is_integral(dtype)) {
    const bool can_negate =
        b->is_const_int() && as_int(b->value()) != std::numeric_limits<int64_t>::min();
    if (can_negate && !is_unsigned(dtype)) {
      return add_folding(a, -as_int(b->value()), dtype);
    }
    if (a->same_as(b)) {
      return constant(fusion_of(a), int64_t{0}, dtype);
    }
  }
  return make_binary(BinaryOpType::Sub, a, b, dtype);
}

Val* mul(Val* a, Val* b) {
  const DataType dtype = common_type(a, b);
  if (Val* value = folded(BinaryOpType::Mul, a, b, dtype, dtype)) {
    return value;
  }
  if (a->is_const()) {
    std::swap(a, b);
  }
  if (is_integral(dtype) && b->is_zero()) {
    return constant(fusion_of(a), int64_t{0}, dtype);
  }
  if (b->is_one() && a->dtype() == dtype) {
    return a;
  }
  if (is_integral(dtype) && b->is_const_int() && a->dtype() == dtype) {
    if (const auto product = match(a, BinaryOpType::Mul)) {
      const ScalarValue c = fold(BinaryOpType::Mul, product->c, b->value(), dtype);
      return mul(product->x, constant(fusion_of(a), c, dtype));
    }
  }
  return make_binary(BinaryOpType::Mul, a, b, dtype);
}

Val* div(Val* a, Val* b) {
  const DataType dtype = common_type(a, b);
  if (Val* value = folded(BinaryOpType::Div, a, b, dtype, dtype)) {
    return value;
  }
  if (b->is_one() && a->dtype() == dtype) {
    return a;
  }
  if (is_integral(dtype) && b->is_const_int() && as_int(b->value()) > 0 && a->dtype() == dtype) {
    const int64_t c = as_int(b->value());
    // Exact, because indices and sizes do not overflow.
    const auto product = match(a, BinaryOpType::Mul);
    if (product.has_value() && product->c % c == 0) {
      return mul(product->x, constant(fusion_of(a), product->c / c, dtype));
    }
  }
  return make_binary(BinaryOpType::Div, a, b, dtype);
}

Val* mod(Val* a, Val* b) {
  const DataType dtype = common_type(a, b);
  if (Val* value = folded(BinaryOpType::Mod, a, b, dtype, dtype)) {
    return value;
  }
  if (is_integral(dtype) && b->is_const_int() && as_int(b->value()) > 0) {
    const int64_t c = as_int(b->value());
    if (c == 1) {
      return constant(fusion_of(a), int64_t{0}, dtype);
    }
    if (a->dtype() == dtype) {
      const auto product = match(a, BinaryOpType::Mul);
      if (product.has_value() && product->c % c == 0) {
        return constant(fusion_of(a), int64_t{0}, dtype);
      }
      const auto remainder = match(a, BinaryOpType::Mod);
      if (remainder.has_value() && remainder->c == c) {
        return a;
      }
    }
  }
  return make_binary(BinaryOpType::Mod, a, b, dtype);
}

Val* ceil_div(Val* a, Val* b) {
  const DataType dtype = common_type(a, b);
  if (Val* value = folded(BinaryOpType::CeilDiv, a, b, dtype, dtype)) {
    return value;
  }
  if (b->is_one() && a->dtype() == dtype) {
    return a;
  }
  if (a->is_zero()) {
    return constant(fusion_of(a), int64_t{0}, dtype);
  }
  if (b->is_const_int() && as_int(b->value()) > 0 && a->dtype() == dtype) {
    const int64_t c = as_int(b->value());
    const auto product = match(a, BinaryOpType::Mul);
    if (product.has_value() && product->c % c == 0) {
      return mul(product->x, constant(fusion_of(a), product->c / c, dtype));
    }
  }
  return make_binary(BinaryOpType::CeilDiv, a, b, dtype);
}

namespace {

Val* commutative(BinaryOpType op, Val* a, Val* b) {
  const DataType dtype = common_type(a, b);
  if (Val* value = folded(op, a, b, dtype, dtype)) {
    return value;
  }
  if (a->is_const()) {
    std::swap(a, b);
  }
  return make_binary(op, a, b, dtype);
}

/// max(x, x) and min(x, x) are x.
Val* extremum(BinaryOpType op, Val* a, Val* b) {
  return a->dtype() == b->dtype() && a->same_as(b) ? a : commutative(op, a, b);
}

Val* compare(BinaryOpType op, Val* a, Val* b, bool value_if_same) {
  const DataType type = common_type(a, b);
  if (Val* value = folded(op, a, b, type, DataType::Bool)) {
    return value;
  }
  // Not for floating point: a NaN differs from itself.
  if (!is_floating_point(type) && !is_complex(type) && a->same_as(b)) {
    return constant(fusion_of(a), value_if_same, DataType::Bool);
  }
  return make_binary(op, a, b, DataType::Bool);
}

} // namespace

Val* max(Val* a, Val* b) {
  return extremum(BinaryOpType::Max, a, b);
}

Val* min(Val* a, Val* b) {
  return extremum(BinaryOpType::Min, a, b);
}

Val* bitwise_xor(Val* a, Val* b) {
  const DataType dtype = common_type(a, b);
  if (a->is_zero() && b->dtype() == dtype) {
    return b;
  }
  if (b->is_zero() && a->dtype() == dtype) {
    return a;
  }
  if (is_integral(dtype) && a->same_as(b)) {
    return constant(fusion_of(a), int64_t{0}, dtype);
  }
  return commutative(BinaryOpType::BitwiseXor, a, b);
}

Val* neg(Val* a) {
  if (a->is_const()) {
    return constant(fusion_of(a), fold(UnaryOpType::Neg, a->value(), a->dtype()), a->dtype());
  }
  const Expr* definition = a->definition();
  const UnaryOp* inner = definition == nullptr ? nullptr : definition->as<UnaryOp>();
  if (inner != nullptr && inner->op == UnaryOpType::Neg && inner->arg->dtype() == a->dtype()) {
    return inner->arg;
  }
  Val* out = fusion_of(a).new_scalar(a->dtype());
  fusion_of(a).make<UnaryOp>({.out = out, .arg = a, .op = UnaryOpType::Neg});
  return out;
}

Val* lt(Val* a, Val* b) {
  return compare(BinaryOpType::LT, a, b, false);
}

Val* le(Val* a, Val* b) {
  return compare(BinaryOpType::LE, a, b, true);
}

Val* ge(Val* a, Val* b) {
  return compare(BinaryOpType::GE, a, b, true);
}

Val* eq(Val* a, Val* b) {
  return compare(BinaryOpType::Eq, a, b, true);
}

Val* logical_and(Val* a, Val* b) {
  NVF_INVARIANT(a != nullptr || b != nullptr, "one operand is given");
  if (a == nullptr || b == nullptr) {
    return a == nullptr ? b : a;
  }
  if (a->is_false() || b->is_true() || a == b) {
    return a;
  }
  if (b->is_false() || a->is_true()) {
    return b;
  }
  return make_binary(BinaryOpType::LogicalAnd, a, b, DataType::Bool);
}

Val* logical_or(Val* a, Val* b) {
  NVF_INVARIANT(a != nullptr || b != nullptr, "one operand is given");
  if (a == nullptr || b == nullptr) {
    return fusion_of(a == nullptr ? b : a).true_val();
  }
  if (a->is_true() || b->is_false() || a == b) {
    return a;
  }
  if (b->is_true() || a->is_false()) {
    return b;
  }
  return make_binary(BinaryOpType::LogicalOr, a, b, DataType::Bool);
}

Val* logical_not(Val* a) {
  if (a->is_const()) {
    return constant(fusion_of(a), !as_bool(a->value()), DataType::Bool);
  }
  Val* out = fusion_of(a).new_scalar(DataType::Bool);
  fusion_of(a).make<UnaryOp>({.out = out, .arg = a, .op = UnaryOpType::LogicalNot});
  return out;
}

Val* where(Val* condition, Val* a, Val* b) {
  const DataType dtype = common_type(a, b);
  if (condition->is_const()) {
    return cast(dtype, as_bool(condition->value()) ? a : b);
  }
  if (a->dtype() == b->dtype() && a->same_as(b)) {
    return a;
  }
  Val* out = fusion_of(a).new_scalar(dtype);
  fusion_of(a).make<TernaryOp>(
      {.out = out, .in1 = condition, .in2 = a, .in3 = b, .op = TernaryOpType::Where});
  return out;
}

Val* cast(DataType dtype, Val* a) {
  if (a->dtype() == dtype) {
    return a;
  }
  if (a->is_const()) {
    return constant(fusion_of(a), convert_value(a->value(), a->dtype(), dtype), dtype);
  }
  Val* out = fusion_of(a).new_scalar(dtype);
  fusion_of(a).make<UnaryOp>({.out = out, .arg = a, .op = UnaryOpType::Cast});
  return out;
}

} // namespace nvfuser::scalar
