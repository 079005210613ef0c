#include "ops/scan.h"

#include "ir/pointwise.h"
#include "ir/scalar.h"
#include "ir/search_exprs.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/operands.h"
#include "ops/reduce.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

void check_associative(BinaryOpType op) {
  switch (op) {
    case BinaryOpType::Add:
    case BinaryOpType::Mul:
    case BinaryOpType::Max:
    case BinaryOpType::Min:
    case BinaryOpType::FMax:
    case BinaryOpType::FMin: return;
    default:
      throw UserError({
          .headline = {"A scan with ", enum_name(op), " has no meaning of its own"},
          .node = Part::none(),
          .expected = {"Add, Mul, Max, Min, FMax or FMin"},
          .found = {enum_name(op)},
          .fix = {"use an operation that is associative and has an identity"},
      });
  }
}

/// The scan of a tensor of one element, which is combined with the initial value, if there is one.
TensorView* scan_of_one(TensorView* arg, BinaryOpType op, Val* init) {
  if (init == nullptr) {
    return set(arg);
  }
  switch (op) {
    case BinaryOpType::Add: return maybe_cast(add(arg, init), arg->dtype());
    case BinaryOpType::Mul: return maybe_cast(mul(arg, init), arg->dtype());
    case BinaryOpType::Max: return maybe_cast(maximum(arg, init), arg->dtype());
    case BinaryOpType::Min: return maybe_cast(minimum(arg, init), arg->dtype());
    default: break; // FMax and FMin have no function of their own
  }
  TensorView* out = new_tensor_like(arg, arg->dtype());
  Fusion::active().make<BinaryOp>({.out = out, .lhs = arg, .rhs = init, .op = op});
  return out;
}

} // namespace

TensorView* scan(TensorView* arg, int64_t dim, BinaryOpType op, Val* init) {
  Fusion& fusion = fusion_for({arg});
  if (init != nullptr) {
    fusion_for({init});
  }
  check_associative(op);
  dim = wrap_dim(arg, dim);
  const IterDomain* axis = shape_axes(arg).at(static_cast<size_t>(dim));
  NVF_NODE_CHECK(
      !axis->has_expanded_extent(), arg,
      "Closed-form scan of expanded dimension is not yet implemented");
  if (op != BinaryOpType::Add && op != BinaryOpType::Mul) {
    check_not_complex(enum_name(op), arg);
  }
  const ScalarValue identity = reduction_identity(op, arg->dtype());
  if (init != nullptr && init->is_const() &&
      is_reduction_identity(op, init->value(), init->dtype())) {
    init = nullptr;
  }
  if (axis->is_broadcast()) {
    return scan_of_one(arg, op, init);
  }
  TensorView* out = new_tensor_like(arg, arg->dtype());
  fusion.make<ScanOp>(
      {.out = out,
       .arg = arg,
       .init = init != nullptr ? init : fusion.new_constant(identity, arg->dtype()),
       .op = op,
       .dim = dim});
  return out;
}

#define NVF_DEFINE_SCAN(name, op, doc)                        \
  TensorView* name(TensorView* arg, int64_t dim, Val* init) { \
    return scan(arg, dim, BinaryOpType::op, init);            \
  }
NVF_FOR_EACH_SCAN_FUNCTION(NVF_DEFINE_SCAN)
#undef NVF_DEFINE_SCAN

} // namespace nvfuser::ops
