// The interface of automatic schedulers. A scheduler is a row of a table (schedule/table.h): a
// type, and functions that can be called apart.
//
//   FusionSummary summary(fusion);                       once for a fusion
//   find_refusal_by_structure(summary)                   may say no: what the fusion computes
//   find_refusal_by_size(summary, facts)                 may say no: sizes of a run
//   compute_heuristics(summary, facts)                   params: a pure function of both
//   find_figures(summary, params, facts)                 what the model of costs takes
//   apply(summary, params)                               edits the fusion: public primitives only
//
// The schedule that `apply` makes prints as Python, and that text makes the same kernel again.
#pragma once

#include <memory>
#include <optional>

#include "base/refusal.h"
#include "schedule/cost_model.h"
#include "schedule/params/heuristic_params.h"
#include "schedule/run_facts.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule {

struct Scheduler {
  SchedulerType type = SchedulerType::none;

  /// Structure alone: the answer holds for every run.
  std::optional<Refusal> (*find_refusal_by_structure)(const FusionSummary&) = nullptr;

  /// Requires: not refused by structure.
  std::optional<Refusal> (*find_refusal_by_size)(const FusionSummary&, const RunFacts&) = nullptr;

  /// Requires: not refused.
  std::unique_ptr<HeuristicParams> (*compute_heuristics)(const FusionSummary&, const RunFacts&) =
      nullptr;

  /// Figures of the kernel that these params make on a GPU, for the model of costs. nullptr: no
  /// model.
  KernelFigures (*find_figures)(const FusionSummary&, const HeuristicParams&, const RunFacts&) =
      nullptr;

  /// Schedules the fusion of the summary, whose tensors have no schedule yet; the summary describes
  /// it no more. Works for params that a user edited.
  /// Errors: params of another class; what primitives refuse.
  void (*apply)(FusionSummary&, const HeuristicParams&) = nullptr;
};

/// `params` as the class a scheduler computes; a UserError for another one.
template <typename Params>
[[nodiscard]] const Params& params_as(const HeuristicParams& params, SchedulerType scheduler) {
  const auto* same = dynamic_cast<const Params*>(&params);
  if (same == nullptr) {
    throw UserError(
        {.headline = {"The params are those of another scheduler"},
         .node = Part::none(),
         .expected = {"params that compute_heuristics makes for ", enum_name(scheduler)},
         .found = {"params of ", enum_name(params.scheduler_type())},
         .fix = "compute_heuristics(fusion, scheduler_type, inputs) returns params to edit"});
  }
  return *same;
}

} // namespace nvfuser::schedule
