// The scheduler `pointwise`: fusions without reductions, of any shapes that broadcasts and reshapes
// lead to one.
//
// The problem is a map over the axes of a reference output, in the order of its memory:
//   [R]      all axes merged
//   [L, R]   where operands are broadcast over outer axes: a thread keeps them over several rows
// Loads stand before the first use of any of them: that hides their latency, not occupancy.
#pragma once

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& pointwise_scheduler();

namespace pointwise {

[[nodiscard]] std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary);
[[nodiscard]] std::optional<Refusal> find_refusal_by_size(
    const FusionSummary& summary, const RunFacts& facts);
[[nodiscard]] std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts);
[[nodiscard]] KernelFigures find_figures(
    const FusionSummary& summary, const HeuristicParams& params, const RunFacts& facts);
void apply(FusionSummary& summary, const HeuristicParams& params);

} // namespace pointwise
} // namespace nvfuser::schedule
