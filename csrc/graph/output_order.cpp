#include "graph/output_order.h"

#include <ranges>
#include <unordered_set>

namespace nvfuser {

std::vector<Expr*> exprs_from_outputs(const Fusion& fusion) {
  std::vector<Expr*> exprs;
  std::unordered_set<const Expr*> seen;
  struct Visit {
    Expr* expr;
    bool has_operands; // stand all expressions that it reads in the list?
  };
  std::vector<Visit> stack;
  for (const Val* output : fusion.outputs() | std::views::reverse) {
    if (output->is_tensor() && output->definition() != nullptr) {
      stack.push_back({output->definition(), false});
    }
  }
  while (!stack.empty()) {
    const Visit visit = stack.back();
    stack.pop_back();
    if (visit.has_operands) {
      exprs.push_back(visit.expr);
      continue;
    }
    if (!seen.insert(visit.expr).second) {
      continue;
    }
    stack.push_back({visit.expr, true});
    const std::vector<TensorView*> operands = tensor_inputs(visit.expr);
    for (const TensorView* operand : operands | std::views::reverse) {
      if (operand->definition() != nullptr && !seen.contains(operand->definition())) {
        stack.push_back({operand->definition(), false});
      }
    }
  }
  return exprs;
}

} // namespace nvfuser
