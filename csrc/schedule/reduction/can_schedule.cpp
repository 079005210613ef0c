#include "schedule/common/reduction_rules.h"
#include "schedule/reduction/reduction.h"

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
std::optional<Refusal> find_elements_behind(const FusionSummary& summary) {
  const TensorView* tensor = find_resolved_broadcast(summary);
  if (tensor == nullptr) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "has unsupported post reduction fusion",
       .node = describe(tensor),
       .expected = {"an element for each result of ", summary.problem()->reference->to_string()},
       .found = "elements along axes that are reduced",
       .fix = "a persistent scheduler takes it, or cut the fusion behind the reduction"});
}

} // namespace

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  NVF_RETURN_REFUSAL(find_refusal_of_reductions(summary));
  NVF_RETURN_REFUSAL(find_different_reductions(summary));
  NVF_RETURN_REFUSAL(find_persistent_buffer(summary));
  NVF_RETURN_REFUSAL(find_elements_behind(summary));
  NVF_RETURN_REFUSAL(find_uncovered_tensor(summary));
  return find_shared_update(summary);
}

std::optional<Refusal> find_refusal_by_size(
    const FusionSummary& /*summary*/, const RunFacts& /*facts*/) {
  return std::nullopt;
}

} // namespace reduction
} // namespace nvfuser::schedule
