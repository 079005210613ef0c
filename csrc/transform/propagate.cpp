#include "transform/propagate.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/fusion.h"
#include "ir/replay_domain.h"
#include "ir/transaction.h"
#include "transform/axis_checks.h"
#include "transform/spanning_tree.h"

namespace nvfuser::transform {
namespace {

using TensorSet = std::unordered_set<const TensorView*>;

void check_same_fusion(const TensorView* reference, const std::vector<TensorView*>& tensors) {
  for (const TensorView* tensor : tensors) {
    reference->fusion()->check_contains(tensor);
  }
}

struct Change {
  TensorView* tensor;
  Replay replay;
};

/// Replay along the edges, which start at `reference` with `axes`. Tensors of `unchanged` only hand
/// on what they would get.
std::vector<Change> replay_along(
    const std::vector<TreeEdge>& edges,
    const TensorView* reference,
    const IterDomains& axes,
    const TensorSet& unchanged = {}) {
  std::unordered_map<const TensorView*, IterDomains> corresponding{{reference, axes}};
  std::vector<Change> changes;
  for (const TreeEdge& edge : edges) {
    Replay result = replay(edge.from, corresponding.at(edge.from), edge.to, edge.direction);
    corresponding[edge.to] = result.corresponding();
    if (unchanged.count(edge.to) == 0) {
      check_replay(edge.to, result.loop);
      changes.push_back({edge.to, std::move(result)});
    }
  }
  return changes;
}

void apply(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    apply_replay(change.tensor, change.replay.loop);
  }
}

/// An axis and the one whose parallel type and padding it takes.
using Binding = std::pair<IterDomain*, const IterDomain*>;

/// The bindings of axes that correspond, after all checks. A tensor is changed after the one it
/// takes from: types are handed on.
std::vector<Binding> bindings_of(const std::vector<Change>& changes) {
  std::vector<Binding> bindings;
  std::unordered_map<const IterDomain*, const IterDomain*> origin; // of axes that are bound here
  for (const Change& change : changes) {
    const IterDomains& loop = change.replay.loop;
    for (const auto& [source, target] : change.replay.axes) {
      const auto known = origin.find(source);
      const IterDomain* from = known == origin.end() ? source : known->second;
      if (from->is_parallelized() && std::find(loop.begin(), loop.end(), target) != loop.end()) {
        check_binding(from, target);
        origin[target] = from;
        bindings.emplace_back(target, from);
      }
    }
  }
  return bindings;
}

/// All tensors that can be reached from `start` in one direction, `start` left out.
TensorSet reachable(const std::vector<TensorView*>& start, Direction direction) {
  TensorSet reached;
  std::vector<TensorView*> stack = start;
  while (!stack.empty()) {
    TensorView* tensor = stack.back();
    stack.pop_back();
    for (const TreeEdge& edge : edges_from(tensor)) {
      if (edge.direction == direction && reached.insert(edge.to).second) {
        stack.push_back(edge.to);
      }
    }
  }
  return reached;
}

/// Changes of the tensors between `from` and `to`.
std::vector<Change> bounded_changes(
    TensorView* from,
    const IterDomains& axes,
    const std::vector<TensorView*>& to,
    Direction direction) {
  check_same_fusion(from, to);
  const bool is_backward = direction == Direction::ToProducer;
  const TensorSet on_way = reachable({from}, direction);
  const TensorSet behind =
      to.empty() ? on_way
                 : reachable(to, is_backward ? Direction::ToConsumer : Direction::ToProducer);
  const TensorSet bounds(to.begin(), to.end());
  const auto is_between = [&](const TensorView* tensor) {
    return on_way.count(tensor) != 0 && behind.count(tensor) != 0 && bounds.count(tensor) == 0 &&
           !(is_backward && tensor->is_fusion_input());
  };
  const std::vector<TreeEdge> tree = spanning_tree(from, [&](const TreeEdge& edge) {
    // Siblings of a tensor on the way share its loops, whether they are on the way or not.
    return edge.direction == Direction::ToSibling
               ? edge.from == from || is_between(edge.from)
               : edge.direction == direction && is_between(edge.to);
  });
  return replay_along(tree, from, axes);
}

void apply_bounded(
    const std::vector<Change>& changes,
    TensorView* from,
    const ScheduleCall& call,
    bool propagate_parallel_type) {
  const std::vector<Binding> bindings =
      propagate_parallel_type ? bindings_of(changes) : std::vector<Binding>{};
  apply(changes);
  for (const auto& [to_axis, from_axis] : bindings) {
    copy_binding(from_axis, to_axis);
  }
  from->record_step(call);
}

} // namespace

void transform_like(TensorView* reference, const std::vector<TensorView*>& selected_tensors) {
  const Transaction transaction(reference->fusion());
  check_same_fusion(reference, selected_tensors);
  std::vector<TreeEdge> tree = spanning_tree(reference);
  TensorSet unchanged;
  if (!selected_tensors.empty()) {
    std::vector<TensorView*> wanted = selected_tensors;
    for (const TensorView* tensor : selected_tensors) {
      const std::vector<TensorView*> siblings = tensor->siblings(); // one expression, one loop nest
      wanted.insert(wanted.end(), siblings.begin(), siblings.end());
    }
    tree = paths_to(tree, wanted);
    const TensorSet selected(wanted.begin(), wanted.end());
    for (const TreeEdge& edge : tree) {
      if (selected.count(edge.to) == 0) {
        unchanged.insert(edge.to);
      }
    }
  }
  apply(replay_along(tree, reference, reference->loop(), unchanged));
  reference->record_step(steps::TransformLike{.selected_tensors = selected_tensors});
}

void bounded_transform_backward(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& to,
    bool propagate_parallel_type) {
  const Transaction transaction(from->fusion());
  apply_bounded(
      bounded_changes(from, leading_axes(from, pos), to, Direction::ToProducer), from,
      steps::BoundedTransformBackward{
          .pos = pos, .to = to, .propagate_parallel_type = propagate_parallel_type},
      propagate_parallel_type);
}

void bounded_transform_forward(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& to,
    bool propagate_parallel_type) {
  const Transaction transaction(from->fusion());
  apply_bounded(
      bounded_changes(from, leading_axes(from, pos), to, Direction::ToConsumer), from,
      steps::BoundedTransformForward{
          .pos = pos, .to = to, .propagate_parallel_type = propagate_parallel_type},
      propagate_parallel_type);
}

void bounded_transform_both(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& backward_to,
    const std::vector<TensorView*>& forward_to,
    bool propagate_parallel_type) {
  const Transaction transaction(from->fusion());
  const IterDomains axes = leading_axes(from, pos);
  std::vector<Change> changes = bounded_changes(from, axes, backward_to, Direction::ToProducer);
  // Siblings of `from` are on either way, and change once.
  TensorSet changed;
  for (const Change& change : changes) {
    changed.insert(change.tensor);
  }
  for (Change& change : bounded_changes(from, axes, forward_to, Direction::ToConsumer)) {
    if (changed.count(change.tensor) == 0) {
      changes.push_back(std::move(change));
    }
  }
  apply_bounded(
      changes, from,
      steps::BoundedTransformBoth{
          .pos = pos,
          .backward_to = backward_to,
          .forward_to = forward_to,
          .propagate_parallel_type = propagate_parallel_type},
      propagate_parallel_type);
}

} // namespace nvfuser::transform
