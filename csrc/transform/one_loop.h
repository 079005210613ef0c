// The tensors that one loop drives, and which of them to take out of it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "transform/inline_limits.h"

namespace nvfuser::transform {

/// The tensors that one loop drives, with the axis of each, starting from a loop axis of one.
class OneLoop {
 public:
  struct Node {
    TensorView* tensor;
    int64_t axis;
    bool is_inside = false; // none of its axes is in the loop, which stands around this one

    [[nodiscard]] bool operator<(const Node& other) const {
      return std::tuple(tensor->serial(), axis, is_inside) <
             std::tuple(other.tensor->serial(), other.axis, other.is_inside);
    }
  };
  using Tensors = std::unordered_set<const TensorView*>;
  using IsGoal = std::function<bool(const Node&)>;

  OneLoop(const InlineLimits::Positions& positions, Alignments& alignments)
      : positions_(positions), alignments_(alignments) {}

  /// On the way to the nearest tensor with an axis in the loop that is a goal, the first of
  /// `adjustable` that the way goes up to and then down from, or else that is inlined there; empty
  /// if there is no goal or none may be lowered. Lowered to its axis, it takes the goal out.
  [[nodiscard]] std::optional<Node> peak_before(
      const Node& start, const IsGoal& is_goal, const Tensors& adjustable);
  /// The same where tensors count that have no axis in the loop and are computed in it.
  [[nodiscard]] std::optional<Node> peak_before_inside(
      const Node& start, const IsGoal& is_goal, const Tensors& adjustable);

 private:
  [[nodiscard]] std::optional<Node> find_peak(
      const Node& start, const IsGoal& is_goal, const Tensors& adjustable);
  void visit(const Node& node, const Node& from, bool is_up);
  void visit_neighbors(const Node& node);
  void visit_producer(TensorView* producer, const Node& node);
  [[nodiscard]] std::optional<Node> peak_of_way(
      const Node& end, const Node& start, const Tensors& adjustable) const;

  const InlineLimits::Positions& positions_;
  Alignments& alignments_;
  bool looks_inside_ = false;
  std::map<Node, std::pair<Node, bool>> came_from_; // node, upward
  std::deque<Node> queue_;
};

} // namespace nvfuser::transform
