#include "host/segments.h"

#include <unordered_map>

namespace nvfuser::host {
namespace {

bool is_visible(const Fusion& fusion, const Val* output) {
  const AliasInfo* alias = fusion.alias_of(output);
  return alias == nullptr || !alias->is_hidden;
}

class PartitionMaker {
 public:
  explicit PartitionMaker(const SegmentedFusion& plan) : plan_(plan) {
    for (const Val* input : plan.complete_fusion()->inputs()) {
      slot_of_.emplace(input, next_++);
    }
  }

  Partition make() {
    for (const SegmentedGroup& group : plan_.groups()) {
      add_piece(group);
    }
    for (const LateUpdate& update : plan_.late_updates()) {
      add_update(update);
    }
    const Fusion& complete = *plan_.complete_fusion();
    for (const Val* output : complete.outputs()) {
      if (is_visible(complete, output)) {
        result_.outputs.push_back(slot_of_.at(output));
      }
    }
    return std::move(result_);
  }

 private:
  void add_piece(const SegmentedGroup& group) {
    Piece piece{
        .fusion = group.fusion, .inputs = {}, .kind = group.kind, .scheduler = group.scheduler};
    for (const Val* input : group.inputs) {
      piece.inputs.push_back(slot_of_.at(input));
    }
    for (size_t i = 0; i < group.outputs.size(); ++i) {
      if (is_visible(*group.fusion, group.fusion->outputs()[i])) {
        slot_of_[group.outputs[i]] = next_++;
      }
    }
    result_.pieces.push_back(std::move(piece));
  }

  void add_update(const LateUpdate& update) {
    Slot& output = slot_of_.at(update.output);
    const Slot argument = slot_of_.at(update.argument);
    result_.pieces.push_back(
        {.fusion = update.fusion,
         .inputs = {output, argument},
         .scheduler = SchedulerType::pointwise});
    output = next_++;
  }

  const SegmentedFusion& plan_;
  Partition result_;
  std::unordered_map<const Val*, Slot> slot_of_; // only looked up
  Slot next_ = 0;
};

} // namespace

Partition partition_of(const SegmentedFusion& plan) {
  if (plan.is_whole()) {
    return whole(plan.groups().front().fusion, plan.groups().front().kind);
  }
  return plan.groups().empty() ? whole(plan.complete_fusion()) : PartitionMaker(plan).make();
}

} // namespace nvfuser::host
