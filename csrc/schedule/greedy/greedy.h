// The scheduler `greedy`: scans, and scatters, with the maps around them.
//
// A scan keeps its loops in order, so the scanned axis stands inside of all others and is merged
// with none. Where it is innermost in memory the threads of a block scan a row together, items of
// neighbours each; where another axis is, threads run along that one, and each scans alone, or with
// those above it if there are few. Gathers of inputs are loads, as in every map.
// Scatters write where their positions say: other threads read the result, so the blocks of the
// grid wait for each other around them, as in the trivial schedule.
#pragma once

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& greedy_scheduler();

namespace greedy {

/// The scanned axis among those of the reference. Requires: a fusion with scans that is not
/// refused.
[[nodiscard]] size_t scanned_axis(const FusionSummary& summary);
[[nodiscard]] bool has_scatter(const FusionSummary& summary);

[[nodiscard]] std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary);
[[nodiscard]] std::optional<Refusal> find_refusal_by_size(
    const FusionSummary& summary, const RunFacts& facts);
[[nodiscard]] std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts);
void apply(FusionSummary& summary, const HeuristicParams& params);

} // namespace greedy
} // namespace nvfuser::schedule
