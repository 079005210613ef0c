#include "ops/binary.h"

#include "ir/pointwise.h"
#include "ops/operands.h"

namespace nvfuser::ops {

namespace {

/// Comparisons and remainders need an order, an angle has real coordinates.
bool takes_complex(BinaryOpType op) {
  switch (op) {
    case BinaryOpType::Atan2:
    case BinaryOpType::FMax:
    case BinaryOpType::FMin:
    case BinaryOpType::Fmod:
    case BinaryOpType::GE:
    case BinaryOpType::GT:
    case BinaryOpType::LE:
    case BinaryOpType::LT:
    case BinaryOpType::Max:
    case BinaryOpType::Min:
    case BinaryOpType::Mod:
    case BinaryOpType::Remainder: return false;
    default: return true;
  }
}

} // namespace

Val* make_binary(BinaryOpType op, Promotion policy, Val* lhs, Val* rhs) {
  Fusion& fusion = fusion_for({lhs, rhs});
  if (!takes_complex(op)) {
    check_not_complex(enum_name(op), lhs);
    check_not_complex(enum_name(op), rhs);
  }
  const Promoted promoted = promote(policy, {lhs, rhs});
  const std::vector<Val*> operands = broadcast_together(promoted.operands);
  Val* out = new_result(operands, promoted.result);
  fusion.make<BinaryOp>({.out = out, .lhs = operands[0], .rhs = operands[1], .op = op});
  return out;
}

#define NVF_DEFINE_BINARY(name, op, policy, doc)                       \
  Val* name(Val* lhs, Val* rhs) {                                      \
    return make_binary(BinaryOpType::op, Promotion::policy, lhs, rhs); \
  }
NVF_FOR_EACH_BINARY_FUNCTION(NVF_DEFINE_BINARY)
#undef NVF_DEFINE_BINARY

Val* complex(Val* real, Val* imag) {
  Fusion& fusion = fusion_for({real, imag});
  NVF_NODE_CHECK(
      real->dtype() == imag->dtype(), imag,
      "real and imag data type should be same in complex(). Got ", real->dtype(), " and ",
      imag->dtype());
  NVF_NODE_CHECK(
      real->dtype() == DataType::Float || real->dtype() == DataType::Double, real,
      "Only support Float and Double, current type:", real->dtype());
  NVF_NODE_CHECK(
      real->is_tensor() == imag->is_tensor(), real,
      "complex() takes two tensors or two scalars, not one of each.");
  const bool is_float = real->dtype() == DataType::Float;
  const std::vector<Val*> operands = broadcast_together({real, imag});
  Val* out = new_result(operands, is_float ? DataType::ComplexFloat : DataType::ComplexDouble);
  fusion.make<BinaryOp>(
      {.out = out, .lhs = operands[0], .rhs = operands[1], .op = BinaryOpType::Complex});
  return out;
}

Val* add_alpha(Val* a, Val* b, Val* alpha) {
  fusion_for({a, b, alpha});
  NVF_USER_CHECK(alpha->is_scalar(), "Alpha value should be a Scalar Valtype and not a tensor");
  return add(a, mul(b, alpha));
}

Val* sub_alpha(Val* a, Val* b, Val* alpha) {
  fusion_for({a, b, alpha});
  NVF_USER_CHECK(alpha->is_scalar(), "Alpha value should be a Scalar Valtype and not a tensor");
  return sub(a, mul(b, alpha));
}

} // namespace nvfuser::ops
