#include "optimize/passes/multiply_thin_matrices.h"

#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/shape.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

bool is_one(const TensorView* tensor, int64_t dim) {
  const IterDomains axes = TensorDomain::no_reductions(tensor->logical());
  const IterDomain* axis = axes.at(static_cast<size_t>(dim));
  return axis->is_broadcast() && !axis->has_expanded_extent();
}

TensorView* without(TensorView* tensor, int64_t dim) {
  return ops::squeeze(tensor, {dim});
}

/// Types of 16 bits are multiplied as Floats, which hold their products.
TensorView* product(TensorView* a, TensorView* b) {
  const DataType dtype = a->dtype();
  const DataType wide = size_bits(dtype) < size_bits(DataType::Float) ? DataType::Float : dtype;
  Val* result = ops::make_binary(
      BinaryOpType::Mul, ops::Promotion::Keep, ops::maybe_cast(a, wide), ops::maybe_cast(b, wide));
  return static_cast<TensorView*>(ops::maybe_cast(result, dtype));
}

// The tensor that stands for a product: the summed axis of each operand is where the result has the
// last axis of the other one, or it goes. nullptr: the product stays.

TensorView* product_for(const MatmulOp& op) {
  const int64_t k_a = op.a->rank() - 1;
  const int64_t k_b = op.b->rank() == 1 ? 0 : op.b->rank() - 2;
  if (!is_one(op.a, k_a) || !is_one(op.b, k_b)) {
    return nullptr;
  }
  const bool has_rows = op.a->rank() > 1;
  const bool has_columns = op.b->rank() > 1;
  return product(
      has_rows && has_columns ? op.a : without(op.a, k_a),
      has_rows && has_columns ? op.b : without(op.b, k_b));
}

TensorView* product_for(const LinearOp& op) {
  const bool is_thin = op.b->rank() == 2 && is_one(op.a, op.a->rank() - 1) && is_one(op.b, 1);
  return is_thin && op.bias == nullptr ? product(op.a, without(op.b, 1)) : nullptr;
}

TensorView* product_for(const Expr&) {
  return nullptr;
}

bool rewrite(const Expr& expr) {
  auto* out = static_cast<TensorView*>(expr.output(0));
  const MadeFor line(&expr);
  TensorView* found = visit(expr, [](const auto& op) { return product_for(op); });
  if (found == nullptr) {
    return false;
  }
  if (!may_stand_for(found, out)) {
    remove_unread(found);
    return false;
  }
  define_as(out, found);
  return true;
}

bool has_real_numbers(DataType dtype) {
  return dtype == DataType::Double || dtype == DataType::Float || dtype == DataType::BFloat16 ||
         dtype == DataType::Half;
}

} // namespace

bool multiply_thin_matrices(Fusion& fusion) {
  bool has_changed = false;
  for (Expr* expr : exprs_from_outputs(fusion)) {
    const Val* out = expr->output(0);
    if (out->is_tensor() && has_real_numbers(out->dtype())) {
      has_changed |= rewrite(*expr);
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
