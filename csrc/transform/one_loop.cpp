#include "transform/one_loop.h"

#include "graph/domain_map.h"

namespace nvfuser::transform {

std::optional<OneLoop::Node> OneLoop::peak_before(
    const Node& start, const IsGoal& is_goal, const Tensors& adjustable) {
  looks_inside_ = false;
  return find_peak(start, is_goal, adjustable);
}

std::optional<OneLoop::Node> OneLoop::peak_before_inside(
    const Node& start, const IsGoal& is_goal, const Tensors& adjustable) {
  looks_inside_ = true;
  return find_peak(start, is_goal, adjustable);
}

std::optional<OneLoop::Node> OneLoop::find_peak(
    const Node& start, const IsGoal& is_goal, const Tensors& adjustable) {
  came_from_.clear();
  queue_.clear();
  visit(start, start, true);
  while (!queue_.empty()) {
    const Node node = queue_.front();
    queue_.pop_front();
    if (is_goal(node)) {
      return peak_of_way(node, start, adjustable);
    }
    visit_neighbors(node);
  }
  return std::nullopt;
}

void OneLoop::visit(const Node& node, const Node& from, bool is_up) {
  if (came_from_.try_emplace(node, from, is_up).second) {
    queue_.push_back(node);
  }
}

void OneLoop::visit_neighbors(const Node& node) {
  for (TensorView* sibling : node.tensor->siblings()) {
    if (node.axis < sibling->ndims()) { // it may not be transformed yet
      visit({sibling, node.axis, node.is_inside}, node, came_from_.at(node).second);
    }
  }
  for (TensorView* producer : node.tensor->producers()) {
    visit_producer(producer, node);
  }
  if (!node.is_inside && InlineLimits::position_of(positions_, node.tensor) > node.axis) {
    for (TensorView* consumer : node.tensor->consumers()) {
      const int64_t partner =
          alignments_(node.tensor, consumer).consumer_axis[static_cast<size_t>(node.axis)];
      if (partner >= 0) {
        visit({consumer, partner}, node, false);
      }
    }
  }
}

/// The loop drives the partner of an axis, or stands around the first partner behind.
void OneLoop::visit_producer(TensorView* producer, const Node& node) {
  const int64_t position = InlineLimits::position_of(positions_, producer);
  const std::vector<int64_t>& partners = alignments_(producer, node.tensor).consumer_axis;
  for (int64_t i = 0; i < position; ++i) {
    const int64_t partner = partners[static_cast<size_t>(i)];
    if (partner == node.axis && !node.is_inside) {
      visit({producer, i}, node, true);
      return;
    }
    if (partner >= node.axis) {
      if (looks_inside_) {
        visit({producer, i, /*is_inside=*/true}, node, true);
      }
      return;
    }
  }
}

std::optional<OneLoop::Node> OneLoop::peak_of_way(
    const Node& end, const Node& start, const Tensors& adjustable) const {
  std::optional<Node> peak; // of both the one nearest to the start, which comes last
  std::optional<Node> inlined;
  Node node = end;
  while (node < start || start < node) {
    const auto& [from, is_up] = came_from_.at(node);
    if (!is_up && came_from_.at(from).second && adjustable.count(from.tensor) != 0) {
      peak = from;
    }
    const Node& producer = is_up ? node : from;
    if (node.tensor->definition() != from.tensor->definition() &&
        adjustable.count(producer.tensor) != 0) {
      inlined = producer;
    }
    node = from;
  }
  return peak.has_value() ? peak : inlined;
}

} // namespace nvfuser::transform
