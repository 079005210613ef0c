#include "segment/ask.h"

#include <algorithm>
#include <iostream>

#include "base/options.h"
#include "schedule/common/kernel_rules.h"
#include "schedule/table.h"

namespace nvfuser::segment {
namespace {

bool takes_kind(SchedulerType scheduler, const GroupTraits& traits) {
  switch (scheduler) {
    case SchedulerType::expr_eval: return traits.has_only_views && !traits.reads_updated;
    case SchedulerType::matmul: return traits.is_library;
    case SchedulerType::greedy: return traits.has_order;
    case SchedulerType::pointwise:
    case SchedulerType::transpose:
    case SchedulerType::resize: return !traits.has_reduction && !traits.has_order;
    case SchedulerType::reduction:
    case SchedulerType::inner_persistent:
    case SchedulerType::outer_persistent:
    case SchedulerType::inner_outer_persistent: return traits.has_reduction;
    default: return true;
  }
}

/// Whether the scheduler takes it; if not, the answer gets the reason.
bool ask(
    const schedule::Scheduler& scheduler,
    const schedule::FusionSummary& summary,
    const schedule::RunFacts& run,
    const UnusableParams& unusable,
    Answer& answer) {
  std::optional<Refusal> refusal = schedule::find_refusal(scheduler.type, summary, run);
  std::shared_ptr<const HeuristicParams> params;
  if (!refusal) {
    params = schedule::choose_params(scheduler, summary, run);
    const Refusal* known = unusable.find(*params);
    refusal = known == nullptr ? std::nullopt : std::optional(*known);
  }
  if (refusal) {
    answer.rejections.push_back({.scheduler = scheduler.type, .refusal = *std::move(refusal)});
    return false;
  }
  answer.scheduler = scheduler.type;
  answer.params = std::move(params);
  return true;
}

} // namespace

GroupTraits traits_of(
    const Fusion& complete, const Flow& flow, const Facts& facts, const Group& group) {
  const auto any = [&](Role role) {
    return std::ranges::any_of(group.exprs, [&](ExprId id) { return facts.expr(id).role == role; });
  };
  return {
      .is_library = any(Role::Library),
      .has_only_views = !any(Role::Map) && !any(Role::Reduction) && !any(Role::Scan) &&
                        !any(Role::Scatter) && !any(Role::Library),
      .has_reduction = any(Role::Reduction),
      .has_resize = any(Role::Resize),
      .has_order = any(Role::Scan) || any(Role::Scatter),
      .reads_updated = std::ranges::any_of(group.exprs, [&](ExprId id) {
        return std::ranges::any_of(flow.expr(id).operands, [&](TensorId operand) {
          return !complete.updates_of(flow.tensor(operand).tensor).empty();
        });
      })};
}

Answer ask_schedulers(
    const schedule::FusionSummary& summary,
    const schedule::RunFacts& run,
    const GroupTraits& traits,
    const UnusableParams& unusable) {
  Answer answer;
  for (const schedule::Scheduler& scheduler : schedule::schedulers()) {
    if (takes_kind(scheduler.type, traits) && ask(scheduler, summary, run, unusable, answer)) {
      break;
    }
  }
  return answer;
}

Answer ask_about_whole(
    const schedule::FusionSummary& summary,
    const schedule::RunFacts& run,
    bool may_be_views,
    const UnusableParams& unusable) {
  const bool is_for_library = std::ranges::any_of(
      summary.exprs(), [](const Expr* expr) { return schedule::is_for_library(expr); });
  Answer answer;
  for (const schedule::Scheduler& scheduler : schedule::schedulers()) {
    const bool is_expr_eval = scheduler.type == SchedulerType::expr_eval;
    if (is_expr_eval && !is_for_library && !may_be_views) {
      continue;
    }
    const bool takes = ask(scheduler, summary, run, unusable, answer);
    if (takes && !(is_expr_eval && is_for_library)) {
      return answer;
    }
  }
  return answer;
}

void log_answer(const Answer& answer) {
  if (!has_option(DumpOption::SegmenterLogging)) {
    return;
  }
  for (const Rejection& rejection : answer.rejections) {
    std::cout << schedule::rejection_text(rejection.scheduler, rejection.refusal) << '\n';
  }
  if (answer.scheduler != SchedulerType::none) {
    std::cout << "Scheduler _" << enum_name(answer.scheduler) << "_ accepted\n";
  }
  std::cout << std::flush;
}

} // namespace nvfuser::segment
