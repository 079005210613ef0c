#include "ops/grid_order.h"

#include "ir/grid_order_exprs.h"
#include "ops/operands.h"

namespace nvfuser::ops {
namespace {

template <typename Node>
TensorView* copy_first(const char* op, const std::vector<TensorView*>& inputs) {
  if (inputs.empty()) {
    throw UserError(
        {.headline = {op, ": there is no tensor to copy"},
         .node = Part::none(),
         .expected = "a list of one tensor or more",
         .found = "an empty list",
         .fix = "pass the tensor whose elements the result has as the first one"});
  }
  Fusion& fusion = fusion_for({inputs.begin(), inputs.end()});
  TensorView* out = new_tensor_like(inputs.front(), inputs.front()->dtype());
  fusion.make<Node>({.out = out, .ins = inputs});
  return out;
}

} // namespace

TensorView* wait_for_prior_grid(const std::vector<TensorView*>& inputs) {
  return copy_first<WaitForPriorGridOp>("wait_for_prior_grid", inputs);
}

TensorView* launch_dependent_grid(const std::vector<TensorView*>& inputs) {
  return copy_first<LaunchDependentGridOp>("launch_dependent_grid", inputs);
}

} // namespace nvfuser::ops
