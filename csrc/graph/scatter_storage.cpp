#include "graph/scatter_storage.h"

#include "ir/index_exprs.h"

namespace nvfuser {

bool is_scattered_into(const TensorView* tensor) {
  const std::vector<Expr*>& uses = tensor->uses();
  if (uses.size() != 1 || tensor->definition() == nullptr || tensor->is_fusion_output()) {
    return false;
  }
  const auto* scatter = uses.front()->as<ScatterOp>();
  return scatter != nullptr && scatter->arg == tensor && scatter->src != tensor;
}

TensorView* storage_of(TensorView* tensor) {
  while (is_scattered_into(tensor)) {
    tensor = tensor->uses().front()->as<ScatterOp>()->out;
  }
  return tensor;
}

const TensorView* storage_of(const TensorView* tensor) {
  return is_scattered_into(tensor) ? storage_of(tensor->uses().front()->as<ScatterOp>()->out)
                                   : tensor;
}

const ScatterOp* scatter_of(const TensorView* tensor) {
  return tensor->definition() == nullptr ? nullptr : tensor->definition()->as<ScatterOp>();
}

const IterDomains& first_axes(const TensorView* tensor) {
  return scatter_of(tensor) == nullptr ? tensor->logical() : tensor->domain()->initial_loop();
}

} // namespace nvfuser
