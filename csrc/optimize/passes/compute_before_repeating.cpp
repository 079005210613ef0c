// Operands come before their readers, so that an operation passes the views before it, and the next
// one passes the views behind that operation.

#include "optimize/passes/compute_before_repeating.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/operands.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

/// The tensor that alone is read, and by nothing else; nullptr: there is none.
TensorView* only_operand(const Expr& expr) {
  const std::vector<TensorView*> tensors = tensor_inputs(&expr);
  const bool is_one = !tensors.empty() && std::ranges::all_of(tensors, [&](const TensorView* in) {
    return in == tensors.front();
  });
  if (!is_one || tensors.front()->is_fusion_output()) {
    return nullptr;
  }
  const std::vector<Expr*>& readers = tensors.front()->all_uses();
  const bool is_read_here =
      std::ranges::all_of(readers, [&](const Expr* reader) { return reader == &expr; });
  return is_read_here ? tensors.front() : nullptr;
}

/// op(view(x)) -> view(op(x)), for as many views as stand there.
bool compute_early(const Expr& expr) {
  TensorView* repeated = only_operand(expr);
  const Expr* view = repeated == nullptr ? nullptr : repeated->definition();
  auto* out = static_cast<TensorView*>(expr.output(0));
  if (view == nullptr || !repeats_elements(*view) || !have_same_shape(repeated, out)) {
    return false;
  }
  auto* source = static_cast<TensorView*>(view->inputs().front());
  if (source->is_cpu_scalar()) { // its results would be numbers of the host
    return false;
  }
  TensorView* computed = nullptr;
  {
    const MadeFor line(&expr);
    computed = ops::new_tensor_like(source, out->dtype());
    copy_expr(expr, {{repeated, source}, {out, computed}});
  }
  {
    const MadeFor line(view);
    define_as(out, apply_to(*view, {{source, computed}}, out->dtype()).front());
  }
  compute_early(*computed->definition());
  return true;
}

} // namespace

bool compute_before_repeating(Fusion& fusion) {
  bool has_changed = false;
  for (Expr* expr : exprs_from_outputs(fusion)) {
    const Val* out = expr->output(0);
    if (out->is_tensor() && out->definition() == expr && is_on_elements(*expr)) {
      has_changed |= compute_early(*expr);
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
