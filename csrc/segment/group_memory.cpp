#include "segment/group_memory.h"

#include <algorithm>

namespace nvfuser::segment {
namespace {

/// Groups kept for one fusion. Past that all are forgotten: a fusion that is cut in so many ways
/// gains little from them.
constexpr size_t kMaxGroups = 4096;

} // namespace

GroupMemory::Entry& GroupMemory::find(
    const Group& group, const std::set<TensorId>& strided, const SegmentBuilder& builder) {
  Key key;
  const auto add = [&](const auto& numbers) {
    key.push_back(numbers.size());
    key.insert(key.end(), numbers.begin(), numbers.end());
  };
  add(group.exprs);
  add(group.outputs);
  add(group.updates);
  add(strided);
  key.push_back(static_cast<size_t>(builder.lowers()));
  if (const auto known = entries_.find(key); known != entries_.end()) {
    return known->second;
  }
  if (entries_.size() >= kMaxGroups) {
    entries_.clear();
  }
  return entries_.emplace(std::move(key), Entry{.built = builder.build(group, strided)})
      .first->second;
}

const std::shared_ptr<const SummarizedFusion>& GroupMemory::summarize(Entry& entry) {
  if (entry.summarized == nullptr) {
    entry.summarized = std::make_shared<SummarizedFusion>(entry.built.fusion);
  }
  return entry.summarized;
}

GroupMemory::Entry& GroupMemory::find_whole(const std::shared_ptr<Fusion>& complete) {
  if (!whole_) {
    BuiltSegment built{.fusion = complete->clone(), .inputs = complete->inputs(), .outputs = {}};
    for (Val* output : complete->outputs()) {
      auto* tensor = static_cast<TensorView*>(output);
      if (std::ranges::find(built.outputs, tensor) == built.outputs.end()) {
        built.outputs.push_back(tensor);
      }
    }
    whole_ = Entry{
        .built = std::move(built), .summarized = std::make_shared<SummarizedFusion>(complete)};
  }
  return *whole_;
}

bool GroupMemory::note_unusable(
    const SummarizedFusion& group, const HeuristicParams& params, const Refusal& refusal) {
  if (whole_ && whole_->summarized.get() == &group) {
    return whole_->unusable.note(params, refusal);
  }
  const auto entry = std::ranges::find_if(
      entries_, [&](const auto& known) { return known.second.summarized.get() == &group; });
  return entry != entries_.end() && entry->second.unusable.note(params, refusal);
}

} // namespace nvfuser::segment
