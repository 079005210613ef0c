#include "ops/unary.h"

#include "ir/pointwise.h"
#include "ops/cast.h"
#include "ops/operands.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

bool takes_complex(UnaryOpType op) {
  switch (op) {
    case UnaryOpType::Ceil:
    case UnaryOpType::Erf:
    case UnaryOpType::Erfc:
    case UnaryOpType::Erfcinv:
    case UnaryOpType::Erfinv:
    case UnaryOpType::Floor:
    case UnaryOpType::Frac:
    case UnaryOpType::IsNegInf:
    case UnaryOpType::IsPosInf:
    case UnaryOpType::Lgamma:
    case UnaryOpType::Relu:
    case UnaryOpType::Round:
    case UnaryOpType::Signbit:
    case UnaryOpType::Trunc: return false;
    default: return true;
  }
}

} // namespace

Val* make_unary(UnaryOpType op, Promotion policy, Val* arg) {
  Fusion& fusion = fusion_for({arg});
  if (!takes_complex(op)) {
    check_not_complex(enum_name(op), arg);
  }
  const Promoted promoted = promote(policy, {arg});
  Val* out = new_result(promoted.operands, promoted.result);
  fusion.make<UnaryOp>({.out = out, .arg = promoted.operands.front(), .op = op});
  return out;
}

#define NVF_DEFINE_UNARY(name, op, policy, doc)                 \
  Val* name(Val* arg) {                                         \
    return make_unary(UnaryOpType::op, Promotion::policy, arg); \
  }
NVF_FOR_EACH_UNARY_FUNCTION(NVF_DEFINE_UNARY)
NVF_FOR_EACH_UNBOUND_UNARY_FUNCTION(NVF_DEFINE_UNARY)
#undef NVF_DEFINE_UNARY

Val* bitwise_not(Val* arg) {
  fusion_for({arg});
  if (is_boolean(arg->dtype())) {
    return logical_not(cast(arg, DataType::Int));
  }
  NVF_NODE_CHECK(
      is_integral(arg->dtype()), arg, "input must have integral or boolean type, but got ",
      arg->dtype());
  return make_unary(UnaryOpType::BitwiseNot, Promotion::Keep, arg);
}

Val* real(Val* arg) {
  fusion_for({arg});
  if (!is_complex(arg->dtype())) {
    return set(arg);
  }
  return make_unary(UnaryOpType::Real, Promotion::KeepReal, arg);
}

Val* imag(Val* arg) {
  fusion_for({arg});
  NVF_NODE_CHECK(is_complex(arg->dtype()), arg, "imag not supported for non-complex tensors");
  return make_unary(UnaryOpType::Imag, Promotion::KeepReal, arg);
}

} // namespace nvfuser::ops
