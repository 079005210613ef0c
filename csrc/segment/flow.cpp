#include "segment/flow.h"

#include "graph/output_order.h"

namespace nvfuser::segment {

Flow::Flow(const Fusion& fusion) {
  for (Val* input : fusion.inputs()) {
    if (input->is_tensor()) {
      add_tensor(static_cast<TensorView*>(input));
    }
  }
  for (Expr* expr : exprs_from_outputs(fusion)) {
    add_expr(expr);
  }
  for (const Val* output : fusion.outputs()) {
    if (output->is_tensor()) {
      tensors_[number_of_.at(static_cast<const TensorView*>(output))].is_output = true;
    }
  }
}

TensorId Flow::add_tensor(TensorView* tensor) {
  const auto [place, is_new] = number_of_.emplace(tensor, tensors_.size());
  if (is_new) {
    tensors_.push_back({.tensor = tensor});
  }
  return place->second;
}

void Flow::add_expr(Expr* expr) {
  const ExprId id = exprs_.size();
  FlowExpr entry{.expr = expr};
  for (TensorView* operand : tensor_inputs(expr)) {
    entry.operands.push_back(add_tensor(operand));
    tensors_[entry.operands.back()].readers.push_back(id);
  }
  for (TensorView* result : tensor_outputs(expr)) {
    entry.results.push_back(add_tensor(result));
    tensors_[entry.results.back()].made_by = id;
  }
  exprs_.push_back(std::move(entry));
}

} // namespace nvfuser::segment
