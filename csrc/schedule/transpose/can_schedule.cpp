#include <algorithm>

#include "schedule/common/kernel_rules.h"
#include "schedule/transpose/runs.h"
#include "schedule/transpose/transpose.h"

namespace nvfuser::schedule {

const Scheduler& transpose_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::transpose,
      .find_refusal_by_structure = transpose::find_refusal_by_structure,
      .find_refusal_by_size = transpose::find_refusal_by_size,
      .compute_heuristics = transpose::compute_heuristics,
      .find_figures = transpose::find_figures,
      .apply = transpose::apply};
  return kScheduler;
}

namespace transpose {
namespace {

std::optional<Refusal> find_other_layout(const FusionSummary& summary, const TileAxes& tile) {
  for (const TensorAccess& access : summary.accesses()) {
    const bool is_third = has_tile(access, tile) && access.lane_axis &&
                          access.lane_axis != tile.inner && access.lane_axis != tile.other;
    const bool is_stored_across = access.is_output && access.lane_axis == tile.other;
    if (is_third || is_stored_across) {
      return refuse(
          {.headline = "cannot find two mismatching inner most dimensions",
           .node = describe(access.tensor),
           .expected = "outputs of one layout, and operands of one more",
           .found = is_third ? "a third innermost dimension" : "outputs of two layouts",
           .fix = "cut the fusion at the permute with the smallest result"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_refusal_of_tiles(const FusionSummary& summary) {
  const std::optional<TileAxes> tile = find_tile_axes(summary);
  if (!tile) {
    return refuse(
        {.headline = "cannot find two mismatching inner most dimensions",
         .node = describe(summary.reference().reference->tensor),
         .expected = "an operand that is contiguous along another dimension",
         .found = "operands with the layout of the result",
         .fix = "the pointwise scheduler takes it"});
  }
  return find_other_layout(summary, *tile);
}

} // namespace

std::optional<TileAxes> find_tile_axes(const FusionSummary& summary) {
  const IterDomains& axes = summary.reference().reference->axes;
  size_t inner = axes.size();
  while (inner > 0 && axes[inner - 1]->is_broadcast()) {
    --inner;
  }
  if (inner < 2) {
    return std::nullopt;
  }
  --inner;
  for (const TensorAccess& access : summary.accesses()) {
    const bool is_across =
        !access.is_output && !access.is_lookup() && access.lane_axis && *access.lane_axis != inner;
    if (is_across && access.has_axis[inner]) {
      return TileAxes{.inner = inner, .other = *access.lane_axis};
    }
  }
  return std::nullopt;
}

bool has_tile(const TensorAccess& access, const TileAxes& tile) {
  return access.has_axis[tile.inner] && access.has_axis[tile.other];
}

bool is_staged(const TensorAccess& access, const TileAxes& tile) {
  return !access.is_output && !access.is_lookup() && access.lane_axis == tile.other &&
         access.has_axis[tile.inner];
}

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  NVF_RETURN_REFUSAL(find_refusal_of_maps(summary));
  if (!find_reordered(summary).empty()) {
    return std::nullopt; // sizes decide
  }
  return find_refusal_of_tiles(summary);
}

std::optional<Refusal> find_refusal_by_size(const FusionSummary& summary, const RunFacts& facts) {
  constexpr int64_t kElementsOfSm = 1024;
  constexpr int64_t kElementsOfTask = 1024;
  constexpr int64_t kLeastSide = 16;
  const IterDomains& axes = summary.reference().reference->axes;
  int64_t elements = 1;
  for (const IterDomain* axis : axes) {
    elements *= facts.size(axis->extent());
  }
  const int64_t least =
      facts.target().is_cuda() ? facts.target().num_sms * kElementsOfSm : kElementsOfTask;
  if (elements < least) {
    return refuse(
        {.headline = "Transpose scheduler does not perform well on small problem sizes.",
         .node = describe(summary.reference().reference->tensor),
         .expected = {"at least ", least, " elements"},
         .found = elements,
         .fix = "the pointwise scheduler takes it"});
  }
  if (suits_runs(summary, facts)) {
    return std::nullopt;
  }
  NVF_RETURN_REFUSAL(find_refusal_of_tiles(summary));
  const TileAxes tile = *find_tile_axes(summary);
  const int64_t inner = facts.size(axes[tile.inner]->extent());
  const int64_t other = facts.size(axes[tile.other]->extent());
  if (std::min(inner, other) < kLeastSide) {
    return refuse(
        {.headline = "Inner transpose of small dimensions should be scheduled by the pointwise "
                     "scheduler",
         .node = describe(summary.reference().reference->tensor),
         .expected = {"innermost dimensions of at least ", kLeastSide},
         .found = {inner, " and ", other},
         .fix = "the pointwise scheduler takes it"});
  }
  return std::nullopt;
}

} // namespace transpose
} // namespace nvfuser::schedule
