#include "schedule/stored_tensors.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "graph/domain_map.h"
#include "graph/val_graph.h"

namespace nvfuser::schedule {
namespace {

/// The tensors of the kernel, numbered from operands to results, and where they are computed.
class Places {
 public:
  Places(const std::vector<TensorView*>& computed, const ValGraph& exact) {
    for (const TensorView* tensor : computed) {
      number_.emplace(tensor, nodes_.size());
      nodes_.push_back({.tensor = tensor, .axes = number_of_axes(own_axes(tensor, exact))});
    }
    for (Node& node : nodes_) {
      for (const TensorView* in : tensor_inputs(node.tensor->definition())) {
        add(node.operands, in);
      }
      for (const Expr* use : node.tensor->uses()) {
        for (const TensorView* reader : tensor_outputs(use)) {
          add(node.readers, reader);
        }
      }
    }
  }

  /// The last tensor whose readers have different places; nullptr if there is none.
  [[nodiscard]] const TensorView* conflict(const TensorSet& stored) {
    for (Node& node : nodes_) {
      node.is_stored = stored.contains(node.tensor);
      node.place = {earliest_stage(node), node.axes};
    }
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (!node->is_stored && !move_to_readers(*node)) {
        return node->tensor;
      }
    }
    return nullptr;
  }

 private:
  /// Where a tensor is computed: loops of one stage over the same axes can be one loop.
  struct Place {
    int64_t stage = 0; // what reads a stored tensor runs in a later one
    size_t axes = 0;

    bool operator==(const Place&) const = default;
  };
  struct Node {
    const TensorView* tensor = nullptr;
    size_t axes = 0; // its own
    std::vector<size_t> operands = {};
    std::vector<size_t> readers = {};
    bool is_stored = false;
    Place place = {};
  };
  using Axes = std::vector<int64_t>; // classes of the exact graph, sorted

  static Axes own_axes(const TensorView* tensor, const ValGraph& exact) {
    Axes axes;
    for (const IterDomain* axis : tensor->logical()) {
      if (!axis->is_broadcast()) {
        axes.push_back(exact.group(axis));
      }
    }
    std::sort(axes.begin(), axes.end());
    return axes;
  }

  size_t number_of_axes(const Axes& axes) {
    return axes_.try_emplace(axes, axes_.size()).first->second;
  }

  void add(std::vector<size_t>& neighbors, const TensorView* tensor) const {
    if (const auto found = number_.find(tensor); found != number_.end()) {
      neighbors.push_back(found->second);
    }
  }

  [[nodiscard]] int64_t earliest_stage(const Node& node) const {
    int64_t stage = 0;
    for (const size_t in : node.operands) {
      stage = std::max(stage, nodes_[in].place.stage + (nodes_[in].is_stored ? 1 : 0));
    }
    return stage;
  }

  /// A tensor that is not stored is computed where it is read. An output is written there as well,
  /// so that must be loops over its own axes. False: the readers have different places.
  bool move_to_readers(Node& node) const {
    if (node.readers.empty()) {
      return true;
    }
    const Place& place = nodes_[node.readers.front()].place;
    const bool is_one_place =
        std::ranges::all_of(
            node.readers, [&](size_t reader) { return nodes_[reader].place == place; }) &&
        (!node.tensor->is_fusion_output() || place.axes == node.axes);
    node.place = place;
    return is_one_place;
  }

  std::vector<Node> nodes_;
  std::unordered_map<const TensorView*, size_t> number_;
  std::map<Axes, size_t> axes_; // numbers of lists of axes
};

} // namespace

TensorSet closed_under_sharing(
    const std::vector<TensorView*>& computed, const ValGraph& exact, TensorSet stored) {
  Places places(computed, exact);
  while (const TensorView* conflict = places.conflict(stored)) {
    stored.insert(conflict);
  }
  return stored;
}

} // namespace nvfuser::schedule
