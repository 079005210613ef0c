#include "optimize/passes/remove_empty.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/operands.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

bool is_empty(const TensorView* tensor) {
  return std::ranges::any_of(tensor->shape(), &Val::is_zero_int);
}

bool draws_from_generator(const Expr* expr) {
  const auto* random = expr->as<RNGOp>();
  return random != nullptr && random->seed == nullptr;
}

/// The value of every element of a result that combines no elements; nullptr: there are some.
Val* value_without_elements(const Expr& expr) {
  const auto* reduction = expr.as<ReductionOp>();
  const bool combines_none =
      reduction != nullptr && is_empty(static_cast<const TensorView*>(reduction->arg));
  return combines_none ? reduction->init : nullptr;
}

bool is_expanded(const TensorView* tensor) {
  return std::ranges::any_of(tensor->logical(), &IterDomain::has_expanded_extent);
}

/// Every element of `out` is `value`. Its axes are of the kinds they were: those of ops::full would
/// follow from sizes.
void fill(TensorView* out, Val* value) {
  const MadeFor line(out);
  TensorView* result = ops::new_tensor_like(out, out->dtype());
  out->fusion()->make<FullOp>({.out = result, .shape = result->shape(), .fill_value = value});
  define_as(out, result);
}

/// Leave out operands of a cat that have no elements along it. The padded operands that stay are as
/// large as the result.
bool drop_operands(const CatOp& cat) {
  const auto has_elements = [&](const TensorView* padded) {
    const auto* pad = padded->definition() == nullptr ? nullptr : padded->definition()->as<PadOp>();
    return pad == nullptr || !pad->arg->size(cat.dim)->is_zero_int();
  };
  std::vector<TensorView*> kept;
  std::ranges::copy_if(cat.args, std::back_inserter(kept), has_elements);
  if (kept.empty() || kept.size() == cat.args.size()) {
    return false;
  }
  if (kept.size() == 1) {
    const bool is_whole = may_stand_for(kept.front(), cat.out);
    if (is_whole) {
      replace(cat.out, kept.front());
    }
    return is_whole;
  }
  const MadeFor line(&cat);
  ValMap axes;
  TensorView* result = copy_tensor(cat.out, cat.out->dtype(), axes);
  cat.fusion()->make<CatOp>({.out = result, .args = kept, .dim = cat.dim});
  define_as(cat.out, result);
  return true;
}

bool simplify(const Expr& expr) {
  if (semantics_of(expr).elements == ElementSource::Created) {
    return false;
  }
  bool has_changed = false;
  for (TensorView* out : tensor_outputs(&expr)) {
    Val* value = is_empty(out) ? expr.fusion()->new_constant(int64_t{0}, out->dtype())
                               : value_without_elements(expr);
    if (value != nullptr && !is_expanded(out)) {
      fill(out, value);
      has_changed = true;
    }
  }
  if (!has_changed && expr.is_a<CatOp>()) {
    has_changed = drop_operands(*expr.as<CatOp>());
  }
  return has_changed;
}

} // namespace

bool remove_empty(Fusion& fusion) {
  const std::vector<Expr*> exprs = exprs_from_outputs(fusion);
  if (std::ranges::any_of(exprs, draws_from_generator)) {
    return false;
  }
  bool has_changed = false;
  for (Expr* expr : exprs) {
    if (expr->output(0)->is_tensor() && expr->output(0)->definition() == expr) {
      has_changed |= simplify(*expr);
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
