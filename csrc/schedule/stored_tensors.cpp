#include "schedule/stored_tensors.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "graph/domain_map.h"
#include "graph/val_graph.h"

namespace nvfuser::schedule {
namespace {

/// Where a tensor is computed: loops of one stage over the same axes can be one loop.
struct Place {
  int64_t stage = 0;         // what reads a stored tensor runs in a later one
  std::vector<int64_t> axes; // classes of the exact graph, sorted

  bool operator==(const Place&) const = default;
};

class Places {
 public:
  Places(const std::vector<TensorView*>& computed, const ValGraph& exact, const TensorSet& stored)
      : exact_(exact), stored_(stored) {
    for (const TensorView* tensor : computed) {
      place_[tensor] = {earliest_stage(tensor), own_axes(tensor)};
    }
    for (auto it = computed.rbegin(); it != computed.rend(); ++it) {
      if (!is_stored(*it)) {
        move_to_readers(*it);
      }
    }
  }

  /// The last tensor whose readers have different places; nullptr if there is none.
  [[nodiscard]] const TensorView* conflict() const {
    return conflict_;
  }

 private:
  [[nodiscard]] bool is_stored(const TensorView* tensor) const {
    return stored_.contains(tensor);
  }

  [[nodiscard]] int64_t earliest_stage(const TensorView* tensor) const {
    int64_t stage = 0;
    for (const TensorView* in : tensor_inputs(tensor->definition())) {
      if (const auto found = place_.find(in); found != place_.end()) {
        stage = std::max(stage, found->second.stage + (is_stored(in) ? 1 : 0));
      }
    }
    return stage;
  }

  [[nodiscard]] std::vector<int64_t> own_axes(const TensorView* tensor) const {
    std::vector<int64_t> axes;
    for (const IterDomain* axis : tensor->logical()) {
      if (!axis->is_broadcast()) {
        axes.push_back(exact_.group(axis));
      }
    }
    std::sort(axes.begin(), axes.end());
    return axes;
  }

  /// A tensor that is not stored is computed where it is read. An output is written there as well,
  /// so that must be loops over its own axes.
  void move_to_readers(const TensorView* tensor) {
    std::optional<Place> place;
    bool is_one_place = true;
    for (const Expr* use : tensor->uses()) {
      for (const TensorView* reader : tensor_outputs(use)) {
        if (const auto found = place_.find(reader); found != place_.end()) {
          is_one_place = is_one_place && (!place || *place == found->second);
          place = found->second;
        }
      }
    }
    if (!place) {
      return;
    }
    if (tensor->is_fusion_output()) {
      is_one_place = is_one_place && place->axes == place_.at(tensor).axes;
    }
    if (!is_one_place && conflict_ == nullptr) {
      conflict_ = tensor;
    }
    place_[tensor] = *place;
  }

  const ValGraph& exact_;
  const TensorSet& stored_;
  std::unordered_map<const TensorView*, Place> place_;
  const TensorView* conflict_ = nullptr;
};

} // namespace

TensorSet closed_under_sharing(
    const std::vector<TensorView*>& computed, const ValGraph& exact, TensorSet stored) {
  while (const TensorView* conflict = Places(computed, exact, stored).conflict()) {
    stored.insert(conflict);
  }
  return stored;
}

} // namespace nvfuser::schedule
