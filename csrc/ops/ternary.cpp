#include "ops/ternary.h"

#include "ir/pointwise.h"
#include "ops/binary.h"
#include "ops/operands.h"
#include "ops/promotion.h"

namespace nvfuser::ops {

namespace {

Val* make_ternary(TernaryOpType op, DataType dtype, const std::vector<Val*>& promoted) {
  const std::vector<Val*> operands = broadcast_together(promoted);
  Val* out = new_result(operands, dtype);
  Fusion::active().make<TernaryOp>(
      {.out = out, .in1 = operands[0], .in2 = operands[1], .in3 = operands[2], .op = op});
  return out;
}

/// clamp and threshold: two scalars in the class of numbers of `x`.
Val* make_with_scalars(TernaryOpType op, Val* x, Val* first, Val* second) {
  return make_ternary(
      op, x->dtype(), {x, cast_operand(first, x->dtype()), cast_operand(second, x->dtype())});
}

} // namespace

Val* lerp(Val* start, Val* end, Val* weight) {
  fusion_for({start, end, weight});
  const Promoted promoted = promote(Promotion::Default, {start, end, weight});
  return make_ternary(TernaryOpType::Lerp, promoted.result, promoted.operands);
}

Val* where(Val* condition, Val* a, Val* b) {
  fusion_for({condition, a, b});
  NVF_NODE_CHECK(
      is_boolean(condition->dtype()), condition, "Condition should be of DataType Bool, not ",
      condition->dtype());
  const DataType dtype = common_dtype({a, b}, /*widen=*/false);
  return make_ternary(
      TernaryOpType::Where, dtype, {condition, cast_operand(a, dtype), cast_operand(b, dtype)});
}

Val* clamp(Val* x, Val* min, Val* max) {
  Fusion& fusion = fusion_for({x});
  check_not_complex("Clamp", x); // before the bounds that it does not have
  const DataType dtype = x->dtype();
  min = min == nullptr ? fusion.new_constant(lowest_value(dtype), dtype) : min;
  max = max == nullptr ? fusion.new_constant(highest_value(dtype), dtype) : max;
  fusion_for({min, max});
  NVF_NODE_CHECK(
      min->is_scalar() && max->is_scalar(), x,
      "For Clamp operation: Min and Max values should be Scalars.");
  return make_with_scalars(TernaryOpType::Clamp, x, min, max);
}

Val* threshold(Val* x, Val* thresh, Val* value) {
  fusion_for({x, thresh, value});
  NVF_NODE_CHECK(
      thresh->is_scalar() && value->is_scalar(), x,
      "For Threshold operation: Thresh and Value values should be Scalars.");
  check_not_complex("Threshold", x);
  return make_with_scalars(TernaryOpType::Threshold, x, thresh, value);
}

Val* addcmul(Val* v1, Val* v2, Val* v3, Val* alpha) {
  fusion_for({v1, v2, v3, alpha});
  NVF_NODE_CHECK(
      alpha->is_scalar(), alpha, "Alpha value should be a Scalar Valtype and not ",
      alpha->is_tensor() ? "TensorView" : "another kind of value");
  const Promoted promoted = promote(Promotion::Default, {v1, v2, v3});
  const std::vector<Val*>& operands = promoted.operands;
  return add(operands[0], mul(operands[1], mul(operands[2], alpha)));
}

} // namespace nvfuser::ops
