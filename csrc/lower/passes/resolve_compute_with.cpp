#include "lower/passes/resolve_compute_with.h"

#include <algorithm>

#include "graph/domain_map.h"
#include "lower/analysis/loop_model.h"
#include "lower/passes/sort_exprs.h"

namespace nvfuser {

std::optional<Refusal> resolve_compute_with(Kernel& kernel) {
  std::vector<TensorView*> tensors = kernel.tensors();
  std::erase_if(
      tensors, [](const TensorView* tensor) { return tensor->compute_with_position() == 0; });
  if (tensors.empty()) {
    return std::nullopt;
  }
  NVF_RETURN_REFUSAL(sort_exprs(kernel));
  for (TensorView* tensor : tensors) {
    // Siblings are computed together: what reads any of them may be first.
    const std::vector<TensorView*> made_together = tensor_outputs(tensor->definition());
    const auto reads = [&](const Expr* expr) {
      return std::any_of(made_together.begin(), made_together.end(), [&](const Val* made) {
        const std::vector<Val*>& inputs = expr->inputs();
        return std::find(inputs.begin(), inputs.end(), made) != inputs.end();
      });
    };
    const auto first = std::find_if(kernel.sorted_exprs.begin(), kernel.sorted_exprs.end(), reads);
    NVF_INVARIANT(first != kernel.sorted_exprs.end(), "something reads ", describe(tensor));
    tensor->assign_compute_with(tensor->compute_with_position(), tensor_outputs(*first));
  }
  return model_loops(kernel);
}

} // namespace nvfuser
