#include "segment/ask.h"

#include <algorithm>

#include "schedule/table.h"

namespace nvfuser::segment {
namespace {

bool takes_kind(SchedulerType scheduler, const GroupTraits& traits) {
  switch (scheduler) {
    case SchedulerType::expr_eval: return traits.has_only_views && !traits.reads_updated;
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
    if (!takes_kind(scheduler.type, traits)) {
      continue;
    }
    std::optional<Refusal> refusal = scheduler.find_refusal_by_structure(summary);
    if (!refusal) {
      refusal = scheduler.find_refusal_by_size(summary, run);
    }
    if (!refusal) {
      auto params = scheduler.compute_heuristics(summary, run);
      const Refusal* known = params == nullptr ? nullptr : unusable.find(*params);
      if (known == nullptr) {
        answer.scheduler = scheduler.type;
        answer.params = std::move(params);
        return answer;
      }
      refusal = *known;
    }
    answer.rejections.push_back({.scheduler = scheduler.type, .refusal = *std::move(refusal)});
  }
  return answer;
}

} // namespace nvfuser::segment
