// GroupMemory: what segmentation found out about groups of one fusion that does not depend on
// sizes: their fusions, and the summaries that schedulers ask. Cutting the fusion again for other
// sizes asks the same questions with new sizes, and builds nothing that was built before. Memory
// never changes an answer: plans do not depend on the sizes that came before.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/refusal.h"
#include "schedule/params/heuristic_params.h"
#include "schedule/summary/fusion_summary.h"
#include "segment/segment_builder.h"

namespace nvfuser::segment {

/// A fusion, and its summary for all sizes, which schedulers ask. Nothing may change the fusion
/// meanwhile.
struct SummarizedFusion {
  explicit SummarizedFusion(std::shared_ptr<Fusion> copy)
      : fusion(std::move(copy)), summary(*fusion) {}
  const std::shared_ptr<Fusion> fusion;
  const schedule::FusionSummary summary;
};

/// Params that a fusion cannot be scheduled with, though their scheduler takes it: its schedule
/// could not be applied or lowered, or no compiler takes it. They follow from the fusion alone.
class UnusableParams {
 public:
  /// Returns whether it is news.
  bool note(const HeuristicParams& params, const Refusal& refusal) {
    return refusals_.emplace(std::pair(params.scheduler_type(), params.hash()), refusal).second;
  }
  /// Why they are; nullptr: they are not, as far as is known.
  [[nodiscard]] const Refusal* find(const HeuristicParams& params) const {
    const auto found = refusals_.find(std::pair(params.scheduler_type(), params.hash()));
    return found == refusals_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::pair<SchedulerType, size_t>, Refusal> refusals_;
};

/// The memory of a complete fusion that does not change, for one target. Not thread-safe, but for
/// what it hands out.
class GroupMemory {
 public:
  struct Entry {
    BuiltSegment built;
    std::shared_ptr<const SummarizedFusion> summarized = nullptr; // once it was asked for
    UnusableParams unusable = {};
  };

  /// The entry of a group, whose fusion `builder` makes if there is none. `strided`: as
  /// SegmentBuilder::build has it.
  [[nodiscard]] Entry& find(
      const Group& group, const std::set<TensorId>& strided, const SegmentBuilder& builder);
  /// Its summary, made if it was not asked for before.
  [[nodiscard]] static const std::shared_ptr<const SummarizedFusion>& summarize(Entry& entry);
  /// The answers of Segmenter for the fusion alone, once it was asked.
  struct Whole {
    bool may_be_whole = false;
    bool may_repeat_work = false;
  };
  [[nodiscard]] std::optional<Whole>& whole_facts() {
    return whole_facts_;
  }
  /// The complete fusion as one segment, which is summarized as it is: runs of the segment are
  /// those of the fusion.
  [[nodiscard]] Entry& find_whole(const std::shared_ptr<Fusion>& complete);

  /// Cut the group differently where a scheduler would decide so. Returns whether it is news.
  bool note_unusable(
      const SummarizedFusion& group, const HeuristicParams& params, const Refusal& refusal);

 private:
  using Key = std::vector<size_t>;
  std::map<Key, Entry> entries_;
  std::optional<Entry> whole_;
  std::optional<Whole> whole_facts_;
};

} // namespace nvfuser::segment
