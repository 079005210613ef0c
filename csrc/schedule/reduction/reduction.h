// The scheduler `reduction`: sums, extremes and moments over the same axes, of which nothing that
// is computed for each element needs the results.
//
// The problem is [I, R] or [R, I], axes merged and in the order of memory:
//   inner   a row is read by some threads of a block, or by several blocks if rows are few
//   outer   neighbouring threads have neighbouring columns; rows are dealt to threads and blocks
// A thread loads several vectors before it uses the first. Sums have an accumulator for each lane,
// so that no sum is long where another one does not average its roundings.
#pragma once

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& reduction_scheduler();

namespace reduction {

[[nodiscard]] std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary);
[[nodiscard]] std::optional<Refusal> find_refusal_by_size(
    const FusionSummary& summary, const RunFacts& facts);
[[nodiscard]] std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts);
[[nodiscard]] KernelFigures find_figures(
    const FusionSummary& summary, const HeuristicParams& params, const RunFacts& facts);
void apply(FusionSummary& summary, const HeuristicParams& params);

} // namespace reduction
} // namespace nvfuser::schedule
