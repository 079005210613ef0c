#include "schedule/table.h"

#include <algorithm>
#include <array>
#include <iostream>

#include "base/options.h"
#include "schedule/expr_eval/expr_eval.h"
#include "schedule/greedy/greedy.h"
#include "schedule/inner_outer/inner_outer.h"
#include "schedule/matmul/matmul.h"
#include "schedule/no_op/no_op.h"
#include "schedule/persistent/persistent.h"
#include "schedule/pointwise/pointwise.h"
#include "schedule/reduction/reduction.h"
#include "schedule/resize/resize.h"
#include "schedule/transpose/transpose.h"

namespace nvfuser::schedule {
namespace {

void check_takes(SchedulerType type, const std::optional<Refusal>& refusal) {
  if (refusal) {
    throw UserError(
        {.headline = {"Could not schedule fusion with the SchedulerType: ", enum_name(type)},
         .node = refusal->report.node,
         .expected = refusal->report.expected,
         .found = {refusal->report.headline.text(), ": ", refusal->report.found.text()},
         .fix = refusal->report.fix},
        refusal->kind);
  }
}

/// The option that turns a scheduler off, where there is one.
std::optional<DisableOption> option_against(SchedulerType type) {
  switch (type) {
    case SchedulerType::greedy: return DisableOption::GreedyScheduler;
    case SchedulerType::resize: return DisableOption::ResizeScheduler;
    default: return std::nullopt;
  }
}

} // namespace

std::span<const Scheduler> schedulers() {
  static const std::array kSchedulers{
      expr_eval_scheduler(), // views cost nothing
      no_op_scheduler(),
      matmul_scheduler(),
      reduction_scheduler(),
      resize_scheduler(),
      transpose_scheduler(),
      pointwise_scheduler(),
      inner_persistent_scheduler(),
      outer_persistent_scheduler(),
      inner_outer_persistent_scheduler(),
      greedy_scheduler(),
  };
  return kSchedulers;
}

const Scheduler* find_scheduler(SchedulerType type) {
  const auto found = std::ranges::find(schedulers(), type, &Scheduler::type);
  return found == schedulers().end() ? nullptr : &*found;
}

std::optional<Refusal> find_refusal(
    SchedulerType type, const FusionSummary& summary, const RunFacts& facts) {
  const Scheduler* scheduler = find_scheduler(type);
  if (scheduler == nullptr) {
    return refuse(
        {.headline = "the scheduler is not there yet",
         .node = "the fusion",
         .expected = "a scheduler of the table",
         .found = enum_name(type),
         .fix = "schedule by hand, or call fd.execute(inputs), which runs any fusion"},
        ErrorKind::NotImplemented);
  }
  if (const auto option = option_against(type); option && has_option(*option)) {
    return refuse(
        {.headline = "the scheduler is turned off",
         .node = "the fusion",
         .expected = "a scheduler that may be used",
         .found = {"NVFUSER_DISABLE=", option_name(*option)},
         .fix = "leave the option out"});
  }
  NVF_RETURN_REFUSAL(scheduler->find_refusal_by_structure(summary));
  return scheduler->find_refusal_by_size(summary, facts);
}

std::string rejection_text(SchedulerType type, const Refusal& refusal) {
  return std::string("Scheduler _") + enum_name(type) +
         "_ ***rejected*** because : " + refusal.report.headline.text();
}

std::vector<SchedulerType> find_compatible_schedulers(
    const FusionSummary& summary, const RunFacts& facts) {
  std::vector<SchedulerType> found;
  for (const Scheduler& scheduler : schedulers()) {
    if (!find_refusal(scheduler.type, summary, facts)) {
      found.push_back(scheduler.type);
    }
  }
  return found;
}

std::optional<CostEstimate> estimate_cost(
    const FusionSummary& summary, const HeuristicParams& params, const RunFacts& facts) {
  const Scheduler* scheduler = find_scheduler(params.scheduler_type());
  if (scheduler == nullptr || scheduler->find_figures == nullptr || !facts.target().is_cuda()) {
    return std::nullopt;
  }
  return estimate_cost(scheduler->find_figures(summary, params, facts), facts.target());
}

std::unique_ptr<HeuristicParams> choose_params(
    const Scheduler& scheduler, const FusionSummary& summary, const RunFacts& facts) {
  std::unique_ptr<HeuristicParams> params = scheduler.compute_heuristics(summary, facts);
  if (has_option(DumpOption::SchedulerVerbose)) {
    if (const auto cost = estimate_cost(summary, *params, facts)) {
      std::cout << "cost of " << enum_name(scheduler.type) << ": " << cost->to_string()
                << std::endl;
    }
  }
  return params;
}

std::unique_ptr<HeuristicParams> compute_heuristics(
    SchedulerType type, const FusionSummary& summary, const RunFacts& facts) {
  check_takes(type, find_refusal(type, summary, facts));
  return choose_params(*find_scheduler(type), summary, facts);
}

std::unique_ptr<HeuristicParams> schedule(
    SchedulerType type, FusionSummary& summary, const RunFacts& facts) {
  std::unique_ptr<HeuristicParams> params = compute_heuristics(type, summary, facts);
  find_scheduler(type)->apply(summary, *params);
  return params;
}

void schedule(SchedulerType type, FusionSummary& summary, const HeuristicParams& params) {
  const Scheduler* scheduler = find_scheduler(type);
  check_takes(
      type, scheduler == nullptr ? refuse(
                                       {.headline = "the scheduler is not there yet",
                                        .node = "the fusion",
                                        .expected = "a scheduler of the table",
                                        .found = enum_name(type),
                                        .fix = "schedule by hand"},
                                       ErrorKind::NotImplemented)
                                 : scheduler->find_refusal_by_structure(summary));
  scheduler->apply(summary, params);
}

} // namespace nvfuser::schedule
