// The table of schedulers, and what callers ask of all of them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

/// In the order of preference: the first that takes a fusion schedules it.
[[nodiscard]] std::span<const Scheduler> schedulers();
/// nullptr: there is none of that type.
[[nodiscard]] const Scheduler* find_scheduler(SchedulerType type);

/// Says no with the reason of the scheduler: structure first, then sizes.
[[nodiscard]] std::optional<Refusal> find_refusal(
    SchedulerType type, const FusionSummary& summary, const RunFacts& facts);
/// The documented text of a refusal: "Scheduler _pointwise_ ***rejected*** because : <reason>".
[[nodiscard]] std::string rejection_text(SchedulerType type, const Refusal& refusal);
/// The schedulers that take the fusion, in the order of preference.
[[nodiscard]] std::vector<SchedulerType> find_compatible_schedulers(
    const FusionSummary& summary, const RunFacts& facts);

/// The decisions of a scheduler; NVFUSER_DUMP=scheduler_verbose prints their expected cost.
/// Requires: not refused.
[[nodiscard]] std::unique_ptr<HeuristicParams> choose_params(
    const Scheduler& scheduler, const FusionSummary& summary, const RunFacts& facts);
/// None: the scheduler has no model of costs, or the target is no GPU.
[[nodiscard]] std::optional<CostEstimate> estimate_cost(
    const FusionSummary& summary, const HeuristicParams& params, const RunFacts& facts);

/// Throws UserError, with the reason, where the scheduler refuses.
[[nodiscard]] std::unique_ptr<HeuristicParams> compute_heuristics(
    SchedulerType type, const FusionSummary& summary, const RunFacts& facts);
/// Computes params and applies them.
[[nodiscard]] std::unique_ptr<HeuristicParams> schedule(
    SchedulerType type, FusionSummary& summary, const RunFacts& facts);
/// Applies `params`. Throws UserError where the scheduler refuses the structure of the fusion.
void schedule(SchedulerType type, FusionSummary& summary, const HeuristicParams& params);

} // namespace nvfuser::schedule
