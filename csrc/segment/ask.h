// Asking schedulers for a candidate, and what to cut where none of them takes it.
#pragma once

#include "schedule/summary/fusion_summary.h"
#include "segment/group_memory.h"
#include "segment/segment_builder.h"
#include "segment/segmented_fusion.h"

namespace nvfuser::segment {

/// Traits that decide which kind of schedulers a group can have.
struct GroupTraits {
  bool is_library = false;
  bool has_only_views = false;
  bool has_reduction = false;
  bool has_resize = false;
  bool has_order = false;     // scans or scatters
  bool reads_updated = false; // an argument that an output updates: a view of it would change
};
[[nodiscard]] GroupTraits traits_of(
    const Fusion& complete, const Flow& flow, const Facts& facts, const Group& group);

/// The first scheduler that takes the segment, what it decides, and the reasons of those before it.
struct Answer {
  SchedulerType scheduler = SchedulerType::none; // none: no scheduler does
  std::shared_ptr<const HeuristicParams> params = nullptr;
  std::vector<Rejection> rejections = {};
};
/// About a segment: only schedulers of that kind are asked.
[[nodiscard]] Answer ask_schedulers(
    const schedule::FusionSummary& summary,
    const schedule::RunFacts& run,
    const GroupTraits& traits,
    const UnusableParams& unusable);
/// About a fusion that is not cut: all schedulers are asked. A library computes it where none else
/// takes it. `may_be_views`: whether its outputs may lie in the memory of inputs.
[[nodiscard]] Answer ask_about_whole(
    const schedule::FusionSummary& summary,
    const schedule::RunFacts& run,
    bool may_be_views,
    const UnusableParams& unusable);

/// Print it, if NVFUSER_DUMP=segmenter_logging asks for it.
void log_answer(const Answer& answer);

} // namespace nvfuser::segment
