#include "schedule/common/kernel_rules.h"
#include "schedule/common/vector_widths.h"
#include "schedule/pointwise/pointwise.h"

namespace nvfuser::schedule {

const Scheduler& pointwise_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::pointwise,
      .find_refusal_by_structure = pointwise::find_refusal_by_structure,
      .find_refusal_by_size = pointwise::find_refusal_by_size,
      .compute_heuristics = pointwise::compute_heuristics,
      .find_figures = pointwise::find_figures,
      .apply = pointwise::apply};
  return kScheduler;
}

namespace pointwise {
namespace {

bool is_packed(const TensorAccess& access) {
  constexpr int64_t kBitsPerByte = 8;
  return access.is_output && size_bits(access.tensor->dtype()) < kBitsPerByte;
}

} // namespace

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  return find_refusal_of_maps(summary);
}

std::optional<Refusal> find_refusal_by_size(const FusionSummary& summary, const RunFacts& facts) {
  const size_t rank = summary.reference().reference->axes.size();
  for (const TensorAccess& access : summary.accesses()) {
    if (is_packed(access) && widest_access(access, rank, facts) < 2) {
      return refuse(
          {.headline = "elements of a byte cannot be stored one by one",
           .node = describe(access.tensor),
           .expected = "an innermost size of two or more, even",
           .found = "elements that are not neighbours in pairs",
           .fix = "pad the innermost dimension to an even size"});
    }
  }
  return std::nullopt;
}

} // namespace pointwise
} // namespace nvfuser::schedule
