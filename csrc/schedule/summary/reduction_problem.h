// Reductions over the same axes as one problem: the axes that are kept, merged, and those that are
// reduced, merged.
//
//   inner   [I, R]   the innermost axis in memory is reduced
//   outer   [R, I]   it is kept
//   all     [R]      nothing is kept: inner
#pragma once

#include <optional>
#include <vector>

#include "base/refusal.h"
#include "schedule/summary/accesses.h"
#include "schedule/summary/costs.h"
#include "schedule/summary/reductions.h"

namespace nvfuser::schedule {

struct ReductionProblem {
  /// The first result of a reduction: its loops are those of all tensors.
  TensorView* reference = nullptr;
  bool is_inner = false;
  /// Its logical axes in the order of memory, without broadcasts.
  IterDomains kept = {};
  IterDomains reduced = {};
  /// Positions of these among its logical axes, and of the broadcasts.
  std::vector<int64_t> kept_positions = {};
  std::vector<int64_t> reduced_positions = {};
  std::vector<int64_t> broadcast_positions = {};
  /// Seen from [kept, reduced] of an inner problem, from [reduced, kept] of an outer one.
  std::vector<TensorAccess> accesses = {};
  /// Cost of one element that is reduced or computed beside it.
  Cost cost = {};

  /// How many axes lanes are split off: those of the side that is innermost in memory.
  [[nodiscard]] size_t lane_axes() const {
    return is_inner ? reduced.size() : kept.size();
  }
};

/// The axes that are kept, and then those that are reduced.
[[nodiscard]] IterDomains axes_of_problem(const ReductionProblem& problem);

/// The problem of `facts`. Cost: O(tensors * rank^2).
[[nodiscard]] ReductionProblem make_reduction_problem(
    const Fusion& fusion,
    const ValGraph& exact,
    const std::vector<Expr*>& exprs,
    const ReductionFacts& facts);

} // namespace nvfuser::schedule
