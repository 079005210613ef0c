// A kernel reads slices of what lies in memory (an input) at no cost, but a part of what it
// computes only if that is stored first. So slices pass the operations before them, one after the
// other, from the last one to the input.

#include "optimize/passes/slice_before_computing.h"

#include <algorithm>

#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/operands.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

/// The tensor whose elements alone `tensor` is computed from, place by place; nullptr: there is
/// none, or `tensor` is returned.
TensorView* computed_from(const TensorView* tensor) {
  const Expr* expr = tensor->definition();
  if (expr == nullptr || tensor->is_fusion_output() || !is_on_elements(*expr)) {
    return nullptr;
  }
  const std::vector<TensorView*> operands = tensor_inputs(expr);
  const bool is_one = !operands.empty() && std::ranges::all_of(operands, [&](const TensorView* in) {
    return in == operands.front();
  });
  return is_one && have_same_shape(operands.front(), tensor) ? operands.front() : nullptr;
}

bool leads_to_input(const TensorView* tensor) {
  while (const TensorView* source = computed_from(tensor)) {
    tensor = source;
  }
  return tensor->is_fusion_input() && !is_updated(tensor);
}

/// slice(op(x)) -> op(slice(x)). Returns the new slice.
SliceOp* move_before(const SliceOp& slice, const Expr& operation, TensorView* source) {
  TensorView* out = slice.out;
  TensorView* part = nullptr;
  {
    const MadeFor line(&slice);
    part = apply_to(slice, {{slice.arg, source}}, source->dtype()).front();
  }
  const MadeFor line(&operation);
  TensorView* computed = ops::new_tensor_like(part, out->dtype());
  copy_expr(operation, {{source, part}, {slice.arg, computed}});
  define_as(out, computed);
  return part->definition()->as<SliceOp>();
}

bool move_to_input(const SliceOp* slice) {
  if (slice->arg->is_fusion_input() || !leads_to_input(slice->arg)) {
    return false;
  }
  while (TensorView* source = computed_from(slice->arg)) {
    slice = move_before(*slice, *slice->arg->definition(), source);
  }
  return true;
}

} // namespace

bool slice_before_computing(Fusion& fusion) {
  bool has_changed = false;
  for (const Expr* expr : exprs_from_outputs(fusion)) {
    if (const auto* slice = expr->as<SliceOp>()) {
      has_changed |= move_to_input(slice);
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
