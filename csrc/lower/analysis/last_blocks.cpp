#include "lower/analysis/last_blocks.h"

#include <algorithm>

#include "lower/analysis/reductions.h"

namespace nvfuser {
namespace {

bool is_over_blocks(const Kernel& kernel, const Expr* expr) {
  return is_reduction_expr(expr) && !reduction_shape(kernel, first_output(expr)).grid_dims.empty();
}

/// The expressions that depend on `reduction`, in the order of the kernel.
std::vector<const Expr*> dependents_of(const Kernel& kernel, const Expr* reduction) {
  std::unordered_set<const Val*> results(reduction->outputs().begin(), reduction->outputs().end());
  std::vector<const Expr*> dependents;
  for (const Expr* expr : kernel.sorted_exprs) {
    const bool depends = std::any_of(
        expr->inputs().begin(), expr->inputs().end(),
        [&](const Val* in) { return results.count(in) != 0; });
    if (depends) {
      results.insert(expr->outputs().begin(), expr->outputs().end());
      dependents.push_back(expr);
    }
  }
  return dependents;
}

/// Whether the loops of `expr` are bound to a grid dimension that was reduced: then other blocks
/// than the last run it.
bool runs_in_blocks(const Kernel& kernel, const Expr* expr, const std::vector<int64_t>& grid_dims) {
  const LoopNest& nest = kernel.loop_model->nest(first_output(expr));
  return std::any_of(nest.begin(), nest.end(), [&](const Loop* loop) {
    return !loop->is_broadcast() &&
           std::any_of(grid_dims.begin(), grid_dims.end(), [&](const int64_t dim) {
             return loop->parallel_type == kGridDimTypes[static_cast<size_t>(dim)];
           });
  });
}

} // namespace

LastBlocks::LastBlocks(const Kernel& kernel) {
  // The last reduction first: what it holds, the earlier ones cannot hold.
  for (size_t i = kernel.sorted_exprs.size(); i-- > 0;) {
    if (is_over_blocks(kernel, kernel.sorted_exprs[i])) {
      decide(kernel, kernel.sorted_exprs[i]);
    }
  }
}

void LastBlocks::decide(const Kernel& kernel, const Expr* reduction) {
  const std::vector<int64_t> grid_dims = reduction_shape(kernel, first_output(reduction)).grid_dims;
  const std::vector<const Expr*> dependents = dependents_of(kernel, reduction);
  const bool is_for_all = std::any_of(dependents.begin(), dependents.end(), [&](const Expr* expr) {
    return runs_in_blocks(kernel, expr, grid_dims) || is_over_blocks(kernel, expr) ||
           holder(first_output(expr)) != nullptr;
  });
  if (is_for_all) {
    for_all_.insert(reduction);
    return;
  }
  for (const Val* out : reduction->outputs()) {
    holders_[out] = reduction;
  }
  for (const Expr* expr : dependents) {
    for (const Val* out : expr->outputs()) {
      holders_[out] = reduction;
    }
  }
}

const Expr* LastBlocks::holder(const Val* tensor) const {
  const auto found = holders_.find(tensor);
  return found == holders_.end() ? nullptr : found->second;
}

} // namespace nvfuser
