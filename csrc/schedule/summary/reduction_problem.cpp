#include "schedule/summary/reduction_problem.h"

#include <algorithm>

#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

std::vector<int64_t> positions_in(const IterDomains& all, const IterDomains& axes) {
  std::vector<int64_t> positions;
  for (const IterDomain* axis : axes) {
    positions.push_back(std::ranges::find(all, axis) - all.begin());
  }
  return positions;
}

/// Cost of the expressions that are computed for each element of the problem.
Cost cost_of_element(const std::vector<Expr*>& exprs, size_t axes) {
  Cost cost;
  for (const Expr* expr : exprs) {
    const std::vector<TensorView*> results = tensor_outputs(expr);
    const bool is_for_each = std::ranges::any_of(results, [&](const TensorView* result) {
      return TensorDomain::no_broadcasts(result->logical()).size() >= axes;
    });
    if (is_for_each) {
      cost += cost_of(expr);
    }
  }
  return cost;
}

} // namespace

IterDomains axes_of_problem(const ReductionProblem& problem) {
  IterDomains axes = problem.kept;
  axes.insert(axes.end(), problem.reduced.begin(), problem.reduced.end());
  return axes;
}

ReductionProblem make_reduction_problem(
    const Fusion& fusion,
    const ValGraph& exact,
    const std::vector<Expr*>& exprs,
    const ReductionFacts& facts) {
  ReductionProblem problem{.reference = facts.out};
  IterDomains broadcasts;
  for (IterDomain* axis : facts.out->logical()) {
    if (axis->is_broadcast()) {
      broadcasts.push_back(axis);
    }
  }
  for (IterDomain* axis : facts.axes) {
    (axis->is_reduction() ? problem.reduced : problem.kept).push_back(axis);
  }
  problem.is_inner = facts.axes.back()->is_reduction();
  problem.kept_positions = positions_in(facts.out->logical(), problem.kept);
  problem.reduced_positions = positions_in(facts.out->logical(), problem.reduced);
  problem.broadcast_positions = positions_in(facts.out->logical(), broadcasts);

  IterDomains axes = problem.is_inner ? problem.kept : problem.reduced;
  const IterDomains& inner = problem.is_inner ? problem.reduced : problem.kept;
  axes.insert(axes.end(), inner.begin(), inner.end());
  problem.accesses = find_accesses(fusion, exact, axes);
  problem.cost = cost_of_element(exprs, facts.axes.size());
  return problem;
}

} // namespace nvfuser::schedule
