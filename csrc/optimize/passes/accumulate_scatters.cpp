#include "optimize/passes/accumulate_scatters.h"

#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/cast.h"
#include "ops/index.h"
#include "ops/operands.h"
#include "ops/shape.h"
#include "optimize/number_formats.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

template <typename Node>
const Node* definition_as(const Val* val) {
  return val->definition() == nullptr ? nullptr : val->definition()->as<Node>();
}

/// The scatter whose result is added up, perhaps as wider numbers; nullptr: it is something else.
const ScatterOp* added_scatter(const ReductionOp& sum) {
  const Val* arg = sum.arg;
  const auto* cast = definition_as<UnaryOp>(arg);
  const bool widens = cast != nullptr && cast->op == UnaryOpType::Cast &&
                      is_integral(cast->arg->dtype()) &&
                      holds_all_values(cast->out->dtype(), cast->arg->dtype());
  return definition_as<ScatterOp>(widens ? cast->arg : arg);
}

bool writes_one_element_a_row(const ScatterOp& scatter) {
  const IterDomains positions = TensorDomain::no_reductions(scatter.index->logical());
  const auto* zeros = definition_as<FullOp>(scatter.arg);
  return scatter.dim == 1 && positions.size() == 2 && positions[1]->is_broadcast() &&
         !positions[1]->has_expanded_extent() && !scatter.accumulate && !scatter.src->is_tensor() &&
         zeros != nullptr && constant_number(zeros->fill_value) == 0.0;
}

bool adds_rows(const ReductionOp& sum) {
  const auto& axes = static_cast<const TensorView*>(sum.out)->logical();
  return sum.op == BinaryOpType::Add && is_integral(sum.out->dtype()) && axes.size() == 2 &&
         axes[0]->is_reduction() && !axes[1]->is_reduction();
}

bool rewrite(const ReductionOp& sum) {
  const ScatterOp* scatter = adds_rows(sum) ? added_scatter(sum) : nullptr;
  if (scatter == nullptr || !writes_one_element_a_row(*scatter)) {
    return false;
  }
  const MadeFor line(&sum);
  Fusion& fusion = *sum.fusion();
  auto* out = static_cast<TensorView*>(sum.out);
  const DataType dtype = out->dtype();
  TensorView* zeros = ops::new_tensor_like(out, dtype);
  fusion.make<FullOp>(
      {.out = zeros,
       .shape = zeros->shape(),
       .fill_value = fusion.new_constant(int64_t{0}, dtype)});
  Val* written = ops::cast_constant(scatter->src, scatter->out->dtype());
  TensorView* result = ops::scatter(
      zeros, ops::squeeze(scatter->index, {1}), ops::cast_constant(written, dtype), 0,
      BinaryOpType::Add);
  if (!may_stand_for(result, out)) {
    remove_unread(result);
    return false;
  }
  define_as(out, result);
  return true;
}

} // namespace

bool accumulate_scatters(Fusion& fusion) {
  bool has_changed = false;
  for (Expr* expr : exprs_from_outputs(fusion)) {
    const auto* sum = expr->as<ReductionOp>();
    if (sum != nullptr && sum->out->is_tensor() && sum->out->definition() == expr) {
      has_changed |= rewrite(*sum);
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
