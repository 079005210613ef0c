// GroupMemory: what segmentation found out about groups of one fusion that does not depend on
// sizes: their fusions, and the summaries that schedulers ask. Cutting the fusion again for other
// sizes asks the same questions with new sizes, and builds nothing that was built before. What is
// remembered never changes an answer: plans do not depend on the sizes that came before.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

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

/// Of a complete fusion that does not change. Not thread-safe, but for what it hands out.
class GroupMemory {
 public:
  struct Entry {
    BuiltSegment built;
    std::shared_ptr<const SummarizedFusion> summarized = nullptr; // once it was asked for
  };

  /// The entry of a group, whose fusion `builder` makes if there is none. `strided`: as
  /// SegmentBuilder::build has it.
  [[nodiscard]] Entry& find(
      const Group& group, const std::set<TensorId>& strided, const SegmentBuilder& builder);
  /// Its summary, made if it was not asked for before.
  [[nodiscard]] static const std::shared_ptr<const SummarizedFusion>& summarize(Entry& entry);

  [[nodiscard]] size_t num_groups() const {
    return entries_.size();
  }

 private:
  using Key = std::vector<size_t>;
  std::map<Key, Entry> entries_;
};

} // namespace nvfuser::segment
