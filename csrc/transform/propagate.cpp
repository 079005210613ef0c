#include "transform/propagate.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/source_location_scope.h"
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
std::optional<Refusal> replay_along(
    const std::vector<TreeEdge>& edges,
    const TensorView* reference,
    const IterDomains& axes,
    const TensorSet& unchanged,
    std::vector<Change>& changes) {
  std::unordered_map<const TensorView*, IterDomains> corresponding{{reference, axes}};
  for (const TreeEdge& edge : edges) {
    Replay result;
    NVF_RETURN_REFUSAL(
        try_replay(edge.from, corresponding.at(edge.from), edge.to, edge.direction, result));
    corresponding[edge.to] = result.corresponding();
    if (unchanged.count(edge.to) == 0) {
      NVF_RETURN_REFUSAL(find_wrong_replay(edge.to, result.loop));
      changes.push_back({edge.to, std::move(result)});
    }
  }
  return std::nullopt;
}

void apply(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    apply_replay(change.tensor, change.replay.loop);
  }
}

/// An axis and the one whose parallel type and padding it takes.
using Binding = std::pair<IterDomain*, const IterDomain*>;

/// The bindings of axes that correspond. A tensor is changed after the one it takes from: types are
/// handed on.
std::optional<Refusal> find_bindings(
    const std::vector<Change>& changes, std::vector<Binding>& bindings) {
  std::unordered_map<const IterDomain*, const IterDomain*> origin; // of axes that are bound here
  for (const Change& change : changes) {
    const IterDomains& loop = change.replay.loop;
    for (const auto& [source, target] : change.replay.axes) {
      const auto known = origin.find(source);
      const IterDomain* from = known == origin.end() ? source : known->second;
      if (from->is_parallelized() && std::find(loop.begin(), loop.end(), target) != loop.end()) {
        NVF_RETURN_REFUSAL(find_wrong_binding(from, target));
        origin[target] = from;
        bindings.emplace_back(target, from);
      }
    }
  }
  return std::nullopt;
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
std::optional<Refusal> find_bounded_changes(
    TensorView* from,
    const IterDomains& axes,
    const std::vector<TensorView*>& to,
    Direction direction,
    std::vector<Change>& changes) {
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
  return replay_along(tree, from, axes, {}, changes);
}

/// Where a replay goes, and as far as what.
struct Bound {
  Direction direction;
  const std::vector<TensorView*>& to;
};

std::optional<Refusal> find_changes_within(
    TensorView* from, int64_t pos, const std::vector<Bound>& bounds, std::vector<Change>& changes) {
  NVF_RETURN_REFUSAL(find_wrong_count(from, pos));
  const IterDomains axes = leading_axes(from, pos);
  TensorSet changed; // siblings of `from` are on either way, and change once
  for (const Bound& bound : bounds) {
    std::vector<Change> found;
    NVF_RETURN_REFUSAL(find_bounded_changes(from, axes, bound.to, bound.direction, found));
    for (Change& change : found) {
      if (changed.insert(change.tensor).second) {
        changes.push_back(std::move(change));
      }
    }
  }
  return std::nullopt;
}

std::optional<Refusal> transform_within(
    TensorView* from,
    int64_t pos,
    const std::vector<Bound>& bounds,
    bool propagate_parallel_type,
    const ScheduleCall& call) {
  std::vector<Change> changes;
  std::vector<Binding> bindings;
  NVF_RETURN_REFUSAL(find_changes_within(from, pos, bounds, changes));
  if (propagate_parallel_type) {
    NVF_RETURN_REFUSAL(find_bindings(changes, bindings));
  }
  apply(changes);
  for (const auto& [to_axis, from_axis] : bindings) {
    copy_binding(from_axis, to_axis);
  }
  from->record_step(call);
  return std::nullopt;
}

/// If `fn` refuses, everything that it made before is taken back.
template <typename Fn>
std::optional<Refusal> all_or_nothing(const TensorView* tensor, const Fn& fn) {
  Transaction transaction(tensor->fusion());
  const SourceLocationScope at_call(current_source_location()); // asked for once
  std::optional<Refusal> refusal = fn();
  if (refusal) {
    transaction.take_back();
  }
  return refusal;
}

std::optional<Refusal> transform_selected(
    TensorView* reference, const std::vector<TensorView*>& selected_tensors) {
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
  std::vector<Change> changes;
  NVF_RETURN_REFUSAL(replay_along(tree, reference, reference->loop(), unchanged, changes));
  apply(changes);
  reference->record_step(steps::TransformLike{.selected_tensors = selected_tensors});
  return std::nullopt;
}

} // namespace

std::optional<Refusal> try_transform_like(
    TensorView* reference, const std::vector<TensorView*>& selected_tensors) {
  return all_or_nothing(reference, [&] { return transform_selected(reference, selected_tensors); });
}

void transform_like(TensorView* reference, const std::vector<TensorView*>& selected_tensors) {
  check(try_transform_like(reference, selected_tensors));
}

std::optional<Refusal> try_bounded_transform_backward(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& to,
    bool propagate_parallel_type) {
  return all_or_nothing(from, [&] {
    return transform_within(
        from, pos, {{Direction::ToProducer, to}}, propagate_parallel_type,
        steps::BoundedTransformBackward{
            .pos = pos, .to = to, .propagate_parallel_type = propagate_parallel_type});
  });
}

std::optional<Refusal> try_bounded_transform_forward(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& to,
    bool propagate_parallel_type) {
  return all_or_nothing(from, [&] {
    return transform_within(
        from, pos, {{Direction::ToConsumer, to}}, propagate_parallel_type,
        steps::BoundedTransformForward{
            .pos = pos, .to = to, .propagate_parallel_type = propagate_parallel_type});
  });
}

std::optional<Refusal> try_bounded_transform_both(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& backward_to,
    const std::vector<TensorView*>& forward_to,
    bool propagate_parallel_type) {
  return all_or_nothing(from, [&] {
    return transform_within(
        from, pos, {{Direction::ToProducer, backward_to}, {Direction::ToConsumer, forward_to}},
        propagate_parallel_type,
        steps::BoundedTransformBoth{
            .pos = pos,
            .backward_to = backward_to,
            .forward_to = forward_to,
            .propagate_parallel_type = propagate_parallel_type});
  });
}

void bounded_transform_backward(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& to,
    bool propagate_parallel_type) {
  check(try_bounded_transform_backward(from, pos, to, propagate_parallel_type));
}

void bounded_transform_forward(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& to,
    bool propagate_parallel_type) {
  check(try_bounded_transform_forward(from, pos, to, propagate_parallel_type));
}

void bounded_transform_both(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& backward_to,
    const std::vector<TensorView*>& forward_to,
    bool propagate_parallel_type) {
  check(try_bounded_transform_both(from, pos, backward_to, forward_to, propagate_parallel_type));
}

} // namespace nvfuser::transform
