#include "schedule/common/reduction_rules.h"
#include "schedule/reduction/reduction.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {

const Scheduler& reduction_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::reduction,
      .find_refusal_by_structure = reduction::find_refusal_by_structure,
      .find_refusal_by_size = reduction::find_refusal_by_size,
      .compute_heuristics = reduction::compute_heuristics,
      .apply = reduction::apply};
  return kScheduler;
}

namespace reduction {
namespace {

std::optional<Refusal> find_persistent_buffer(const FusionSummary& summary) {
  if (summary.persistent_buffers().empty()) {
    return std::nullopt;
  }
  const PersistentBuffer& buffer = summary.persistent_buffers().front();
  return refuse(
      {.headline = "need persistent buffers that reduction scheduler doesn't handle",
       .node = describe(buffer.tensor),
       .expected = "elements that are needed before the reductions only",
       .found =
           {"a tensor that meets the result of ",
            summary.reductions()[buffer.reductions.front()].out->to_string()},
       .fix = "a persistent scheduler keeps it on chip, or cut the fusion behind the reduction"});
}

/// What is computed from results has an element for each of them, and no more.
std::optional<Refusal> find_resolved_broadcast(const FusionSummary& summary) {
  const ReductionProblem& problem = *summary.problem();
  const TensorSetOf behind = tensors_behind_reductions(summary);
  for (const TensorView* tensor : summary.computed()) {
    if (!behind.contains(tensor)) {
      continue;
    }
    for (const IterDomain* axis : problem.reduced) {
      if (has_axis(summary.exact(), tensor, axis)) {
        return refuse(
            {.headline = "has unsupported post reduction fusion",
             .node = describe(tensor),
             .expected = {"an element for each result of ", problem.reference->to_string()},
             .found = {"the axis ", axis->to_string(), ", which is reduced"},
             .fix = "a persistent scheduler takes it, or cut the fusion behind the reduction"});
      }
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  NVF_RETURN_REFUSAL(find_refusal_of_reductions(summary));
  NVF_RETURN_REFUSAL(find_different_reductions(summary));
  NVF_RETURN_REFUSAL(find_persistent_buffer(summary));
  NVF_RETURN_REFUSAL(find_resolved_broadcast(summary));
  NVF_RETURN_REFUSAL(find_uncovered_tensor(summary));
  return find_shared_update(summary);
}

std::optional<Refusal> find_refusal_by_size(
    const FusionSummary& /*summary*/, const RunFacts& /*facts*/) {
  return std::nullopt;
}

} // namespace reduction
} // namespace nvfuser::schedule
