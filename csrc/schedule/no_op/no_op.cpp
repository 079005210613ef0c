#include "schedule/no_op/no_op.h"

#include <algorithm>

#include "schedule/common/kernel_rules.h"
#include "schedule/params/plain_params.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

bool is_empty(const IterDomains& axes, const RunFacts& facts) {
  return std::ranges::any_of(
      axes, [&](const IterDomain* axis) { return facts.size(axis->maybe_expanded_extent()) == 0; });
}

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  return find_refusal_of_kernels(summary);
}

std::optional<Refusal> find_refusal_by_size(const FusionSummary& summary, const RunFacts& facts) {
  for (const TensorView* output : summary.outputs()) {
    const IterDomains axes = TensorDomain::no_reductions(output->logical());
    if (!concrete_axes(output).empty() && !is_empty(axes, facts)) {
      return refuse(
          {.headline = "output has a concrete dimension",
           .node = describe(output),
           .expected = "outputs of one element, or of none",
           .found = output->to_string(),
           .fix = "the other schedulers compute it"});
    }
  }
  for (const ReductionFacts& reduction : summary.reductions()) {
    if (!is_empty(reduction.out->logical(), facts)) {
      return refuse(
          {.headline = "reduction of non-zero elements is not supported",
           .node = describe(reduction.out),
           .expected = "nothing to reduce",
           .found = reduction.out->to_string(),
           .fix = "the schedulers of reductions take it"});
    }
  }
  return std::nullopt;
}

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& /*summary*/, const RunFacts& /*facts*/) {
  return std::make_unique<PlainParams>(SchedulerType::no_op);
}

void apply(FusionSummary& /*summary*/, const HeuristicParams& params) {
  static_cast<void>(params_as<PlainParams>(params, SchedulerType::no_op));
}

} // namespace

const Scheduler& no_op_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::no_op,
      .find_refusal_by_structure = find_refusal_by_structure,
      .find_refusal_by_size = find_refusal_by_size,
      .compute_heuristics = compute_heuristics,
      .apply = apply};
  return kScheduler;
}

} // namespace nvfuser::schedule
