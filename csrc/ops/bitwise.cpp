#include "ops/bitwise.h"

#include "ops/cast.h"
#include "ops/operands.h"
#include "ops/ternary.h"

namespace nvfuser::ops {

namespace {

/// `op` on integers, `of_bools` if both operands are Bool.
Val* bitwise(const char* name, BinaryOpType op, Val* (*of_bools)(Val*, Val*), Val* lhs, Val* rhs) {
  fusion_for({lhs, rhs});
  for (const Val* operand : {lhs, rhs}) {
    NVF_NODE_CHECK(
        is_integral(operand->dtype()) || is_boolean(operand->dtype()), operand,
        "Integer or boolean input is required for ", name, " but found ", operand->dtype());
  }
  if (is_boolean(lhs->dtype()) && is_boolean(rhs->dtype())) {
    return of_bools(lhs, rhs);
  }
  return make_binary(op, Promotion::Default, lhs, rhs);
}

} // namespace

Val* bitwise_and(Val* lhs, Val* rhs) {
  return bitwise("bitwise_and", BinaryOpType::BitwiseAnd, logical_and, lhs, rhs);
}

Val* bitwise_or(Val* lhs, Val* rhs) {
  return bitwise("bitwise_or", BinaryOpType::BitwiseOr, logical_or, lhs, rhs);
}

Val* bitwise_xor(Val* lhs, Val* rhs) {
  return bitwise("bitwise_xor", BinaryOpType::BitwiseXor, ne, lhs, rhs);
}

// An arithmetic shift copies the sign; of a negative `a`, a mask of those copies inverts them
// again.
Val* logical_right_shift(Val* a, Val* n) {
  Fusion& fusion = fusion_for({a, n});
  NVF_NODE_CHECK(
      is_integral(a->dtype()) && is_integral(n->dtype()), n,
      "input must have integral type, but got ", a->dtype(), " and ", n->dtype());
  if (is_unsigned(a->dtype())) { // has no sign to be copied
    return bitwise_right_shift(a, n);
  }
  const DataType dtype = a->dtype() == DataType::Int ? DataType::Int : DataType::Int32;
  const auto constant = [&](int64_t value) { return fusion.new_constant(value, dtype); };
  n = maybe_cast(n, dtype); // the masks below have the width of `a`
  Val* width = constant(size_bits(dtype));
  Val* ones = where(ge(n, width), constant(-1), sub(pow(constant(2), n), constant(1)));
  Val* sign_mask = bitwise_left_shift(ones, sub(width, n));
  Val* shifted = bitwise_right_shift(a, n);
  return where(signbit(a), bitwise_xor(sign_mask, shifted), shifted);
}

} // namespace nvfuser::ops
