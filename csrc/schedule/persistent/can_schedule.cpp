#include <algorithm>
#include <unordered_set>

#include "schedule/common/problem_sizes.h"
#include "schedule/common/recompute.h"
#include "schedule/common/reduction_rules.h"
#include "schedule/params/reduction_params.h"
#include "schedule/persistent/layouts.h"
#include "schedule/persistent/persistent.h"

namespace nvfuser::schedule {
namespace persistent {
namespace {

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary, bool is_inner) {
  NVF_RETURN_REFUSAL(find_refusal_of_reductions(summary));
  NVF_RETURN_REFUSAL(find_different_reductions(summary));
  if (summary.problem()->is_inner != is_inner) {
    return refuse(
        {.headline = "scheduler_type doesn't match with reduction type",
         .node = describe(summary.problem()->reference),
         .expected = is_inner ? "a reduction of the axis that is innermost in memory"
                              : "a reduction that keeps the axis that is innermost in memory",
         .found = is_inner ? "one that keeps it" : "one of that axis",
         .fix = is_inner ? "outer_persistent takes it" : "inner_persistent takes it"});
  }
  if (summary.persistent_buffers().empty() && find_resolved_broadcast(summary) == nullptr) {
    return refuse(
        {.headline = "no persistent buffer identified",
         .node = describe(summary.problem()->reference),
         .expected = "elements that meet results of their reduction",
         .found = "none",
         .fix = "the reduction scheduler takes it"});
  }
  NVF_RETURN_REFUSAL(find_uncovered_tensor(summary));
  return find_shared_update(summary);
}

Refusal refuse_size(const FusionSummary& summary, const ProblemSizes& sizes, int64_t bytes) {
  return refuse(
      {.headline = "not enough registers or shared memory for persistence",
       .node = describe(summary.problem()->reference),
       .expected = "what is kept of a row to fit on chip",
       .found = {sizes.reduced, " elements with ", bytes, " bytes each"},
       .fix = "cut the fusion behind the reductions"});
}

std::optional<Refusal> find_refusal_by_size(
    const FusionSummary& summary, const RunFacts& facts, bool is_inner) {
  const ProblemSizes sizes = sizes_of(*summary.problem(), facts);
  if (sizes.kept == 0 || sizes.reduced == 0) {
    return refuse(
        {.headline = "there is nothing to keep",
         .node = describe(summary.problem()->reference),
         .expected = "elements",
         .found = "none",
         .fix = "execute the fusion, which evaluates it"});
  }
  if (facts.target().is_cuda()) {
    NVF_RETURN_REFUSAL(find_unrepeatable_part(summary));
  }
  if (is_inner && (find_row_of_chunks(summary, facts.target(), facts) ||
                   find_row_of_cluster(summary, facts.target(), sizes) ||
                   find_row_of_grid(summary, facts.target(), sizes) ||
                   find_reread_row(summary, facts.target(), sizes))) {
    return std::nullopt;
  }
  if (!facts.target().is_cuda()) {
    const bool fits = is_inner ? find_row_of_task(summary, facts.target(), sizes).has_value()
                               : find_columns_of_task(summary, facts.target(), sizes).has_value();
    return fits ? std::nullopt : std::optional(refuse_size(summary, sizes, stored_bytes(summary)));
  }
  const bool fits = is_inner ? find_row_of_threads(summary, facts.target(), sizes).has_value()
                             : find_columns_of_threads(summary, facts.target(), sizes).has_value();
  return fits ? std::nullopt : std::optional(refuse_size(summary, sizes, kept_bytes(summary)));
}

} // namespace

int64_t kept_bytes(const FusionSummary& summary) {
  int64_t most = 0;
  for (size_t i = 0; i < summary.reductions().size(); ++i) {
    int64_t bytes = 0;
    for (const PersistentBuffer& buffer : summary.persistent_buffers()) {
      if (std::ranges::find(buffer.reductions, i) != buffer.reductions.end()) {
        bytes += size_bytes(buffer.tensor->dtype());
      }
    }
    most = std::max(most, bytes);
  }
  return most;
}

int64_t stored_bytes(const FusionSummary& summary) {
  int64_t bytes = 0;
  for (const PersistentBuffer& buffer : summary.persistent_buffers()) {
    bytes += buffer.tensor->is_fusion_input() ? 0 : size_bytes(buffer.tensor->dtype());
  }
  return bytes;
}

} // namespace persistent

const Scheduler& inner_persistent_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::inner_persistent,
      .find_refusal_by_structure =
          [](const FusionSummary& summary) {
            return persistent::find_refusal_by_structure(summary, /*is_inner=*/true);
          },
      .find_refusal_by_size =
          [](const FusionSummary& summary, const RunFacts& facts) {
            return persistent::find_refusal_by_size(summary, facts, /*is_inner=*/true);
          },
      .compute_heuristics = persistent::compute_inner_heuristics,
      .apply = persistent::apply_inner};
  return kScheduler;
}

const Scheduler& outer_persistent_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::outer_persistent,
      .find_refusal_by_structure =
          [](const FusionSummary& summary) {
            return persistent::find_refusal_by_structure(summary, /*is_inner=*/false);
          },
      .find_refusal_by_size =
          [](const FusionSummary& summary, const RunFacts& facts) {
            return persistent::find_refusal_by_size(summary, facts, /*is_inner=*/false);
          },
      .compute_heuristics = persistent::compute_outer_heuristics,
      .apply = persistent::apply_outer};
  return kScheduler;
}

} // namespace nvfuser::schedule
