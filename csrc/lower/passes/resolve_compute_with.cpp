#include "lower/passes/resolve_compute_with.h"

#include <algorithm>

#include "graph/domain_map.h"
#include "lower/analysis/loop_model.h"
#include "lower/passes/sort_exprs.h"

namespace nvfuser {
namespace {

/// The readers of the tensor and of its siblings, which are computed together, in the order of the
/// kernel.
std::vector<const Expr*> readers_of(const TensorView* tensor, const Kernel& kernel) {
  const std::vector<TensorView*> made_together = tensor_outputs(tensor->definition());
  std::vector<const Expr*> readers;
  std::ranges::copy_if(kernel.sorted_exprs, std::back_inserter(readers), [&](const Expr* expr) {
    return std::ranges::any_of(made_together, [&](const Val* made) {
      return std::ranges::find(expr->inputs(), made) != expr->inputs().end();
    });
  });
  NVF_INVARIANT(!readers.empty(), "something reads ", describe(tensor));
  return readers;
}

void compute_with(TensorView* tensor, const Expr* reader) {
  tensor->assign_compute_with(tensor->compute_with_position(), tensor_outputs(reader));
}

/// The loops that follow, and that there is an order of expressions for them.
std::optional<Refusal> model_and_sort(Kernel& kernel) {
  NVF_RETURN_REFUSAL(model_loops(kernel));
  return sort_exprs(kernel);
}

/// Each tensor beside the first of its readers for which there is an order of expressions.
std::optional<Refusal> choose_readers(Kernel& kernel, const std::vector<TensorView*>& tensors) {
  NVF_RETURN_REFUSAL(sort_exprs(kernel));
  std::vector<std::vector<const Expr*>> readers;
  for (TensorView* tensor : tensors) {
    readers.push_back(readers_of(tensor, kernel));
    compute_with(tensor, readers.back().front());
  }
  std::optional<Refusal> refusal = model_loops(kernel);
  for (size_t i = 0; refusal && i < tensors.size(); ++i) {
    for (size_t other = 1; other < readers[i].size(); ++other) {
      compute_with(tensors[i], readers[i][other]);
      if (!model_and_sort(kernel)) {
        return std::nullopt;
      }
    }
    compute_with(tensors[i], readers[i].front());
  }
  return refusal;
}

/// Whether several threads would write what they share: in loops over threads that are the reader's
/// alone.
bool is_written_by_others(const LoopModel& model, const TensorView* tensor) {
  if (tensor->memory_type() != MemoryType::Shared) {
    return false;
  }
  const LoopNest& nest = model.nest(tensor);
  return std::any_of(nest.begin() + model.shared_depth(tensor), nest.end(), [&](const Loop* loop) {
    const bool is_own = std::ranges::any_of(
        tensor->loop(), [&](const IterDomain* axis) { return model.loop_of(axis) == loop; });
    return is_block_dim(loop->parallel_type) && !loop->is_broadcast() && !is_own;
  });
}

} // namespace

std::optional<Refusal> resolve_compute_with(Kernel& kernel) {
  std::vector<TensorView*> tensors = kernel.tensors();
  std::erase_if(
      tensors, [](const TensorView* tensor) { return tensor->compute_with_position() == 0; });
  if (tensors.empty()) {
    return std::nullopt;
  }
  NVF_RETURN_REFUSAL(choose_readers(kernel, tensors));
  std::erase_if(tensors, [&](const TensorView* tensor) {
    return !is_written_by_others(*kernel.loop_model, tensor);
  });
  for (const TensorView* tensor : tensors) {
    for (TensorView* made_together : tensor_outputs(tensor->definition())) {
      made_together->assign_compute_with(0);
    }
  }
  return tensors.empty() ? std::nullopt : model_loops(kernel);
}

} // namespace nvfuser
