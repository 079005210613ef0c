#include <algorithm>

#include "schedule/common/moments.h"
#include "schedule/common/problem_sizes.h"
#include "schedule/common/reduction_rules.h"
#include "schedule/persistent/layouts.h"
#include "schedule/reduction/reduction.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {

const Scheduler& reduction_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::reduction,
      .find_refusal_by_structure = reduction::find_refusal_by_structure,
      .find_refusal_by_size = reduction::find_refusal_by_size,
      .compute_heuristics = reduction::compute_heuristics,
      .find_figures = reduction::find_figures,
      .apply = reduction::apply};
  return kScheduler;
}

namespace reduction {
namespace {

/// Whether all that meets the result of the reduction is what moments are computed of.
bool is_of_moments(const ReductionFacts& reduction, const std::vector<Moments>& moments) {
  return std::ranges::any_of(
      moments, [&](const Moments& each) { return each.sum == reduction.expr; });
}

std::optional<Refusal> find_persistent_buffer(
    const FusionSummary& summary, const std::vector<Moments>& moments) {
  const auto& buffers = summary.persistent_buffers();
  const auto found = std::ranges::find_if(buffers, [&](const PersistentBuffer& buffer) {
    return std::ranges::any_of(buffer.reductions, [&](size_t reduction) {
      return !is_of_moments(summary.reductions()[reduction], moments);
    });
  });
  if (found == buffers.end()) {
    return std::nullopt;
  }
  const PersistentBuffer& buffer = *found;
  return refuse(
      {.headline = "need persistent buffers that reduction scheduler doesn't handle",
       .node = describe(buffer.tensor),
       .expected = "elements that are needed before the reductions only",
       .found =
           {"a tensor that meets the result of ",
            summary.reductions()[buffer.reductions.front()].out->to_string()},
       .fix = "a persistent scheduler keeps it on chip, or cut the fusion behind the reduction"});
}

/// Tensors that are computed from results have an element for each of them, and no more.
std::optional<Refusal> find_elements_behind(
    const FusionSummary& summary, const std::vector<Moments>& moments) {
  TensorSetOf left_out;
  for (const Moments& each : moments) {
    left_out.insert(each.differences.begin(), each.differences.end());
  }
  const TensorView* tensor = find_resolved_broadcast(summary, left_out);
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
  const std::vector<Moments> moments = find_moments(summary);
  NVF_RETURN_REFUSAL(find_persistent_buffer(summary, moments));
  NVF_RETURN_REFUSAL(find_elements_behind(summary, moments));
  NVF_RETURN_REFUSAL(find_uncovered_tensor(summary));
  return find_shared_update(summary);
}

/// Moments are computed in two passes where elements stay on chip between them, and on a processor,
/// where dividing for each element takes longer than reading it again.
std::optional<Refusal> find_refusal_by_size(const FusionSummary& summary, const RunFacts& facts) {
  if (summary.persistent_buffers().empty()) {
    return std::nullopt;
  }
  const ProblemSizes sizes = sizes_of(*summary.problem(), facts);
  const bool is_empty = sizes.kept == 0 || sizes.reduced == 0;
  if (is_empty || !facts.target().is_cuda()) {
    return find_persistent_buffer(summary, {});
  }
  const bool stays_on_chip =
      summary.problem()->is_inner
          ? persistent::find_row_of_threads(summary, facts.target(), sizes).has_value()
          : persistent::find_columns_of_threads(summary, facts.target(), sizes).has_value();
  return stays_on_chip ? find_persistent_buffer(summary, {}) : std::nullopt;
}

} // namespace reduction
} // namespace nvfuser::schedule
