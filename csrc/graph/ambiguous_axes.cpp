#include "graph/ambiguous_axes.h"

#include <bit>

namespace nvfuser {
namespace {

constexpr size_t kMostAxes = 64; // no framework has tensors of more dimensions

} // namespace

std::optional<AmbiguousAxis> AmbiguousAxisSearch::find(const TensorView* tensor) {
  axes_.clear();
  std::vector<int64_t> groups;
  for (IterDomain* axis : tensor->logical()) {
    if (graph_.contains(axis)) {
      axes_.push_back(axis);
      groups.push_back(graph_.group(axis));
    }
  }
  if (!searched_.insert(std::move(groups)).second) {
    return std::nullopt;
  }
  result_.reset();
  queue_.clear();
  for (const size_t node : reached_) {
    nodes_[node].sources = 0;
  }
  reached_.clear();
  all_ = axes_.size() >= kMostAxes ? ~Sources{0} : (Sources{1} << axes_.size()) - 1;
  for (size_t i = 0; i < axes_.size() && i < kMostAxes; ++i) {
    record(axes_[i], node_of(axes_[i]), Sources{1} << i);
  }
  while (!queue_.empty() && !result_) {
    const size_t node = queue_.front();
    queue_.pop_front();
    read_steps(node);
    for (const Step& step : nodes_[node].steps) {
      follow(step);
    }
  }
  return result_;
}

size_t AmbiguousAxisSearch::node_of(const IterDomain* id) {
  const int64_t group = graph_.group(id);
  const auto [known, is_new] = node_of_group_.try_emplace(group, nodes_.size());
  if (is_new) {
    nodes_.push_back({.group = group, .has_steps = false, .steps = {}, .sources = 0});
  }
  return known->second;
}

void AmbiguousAxisSearch::read_steps(size_t node) {
  if (nodes_[node].has_steps) {
    return;
  }
  nodes_[node].has_steps = true;
  const int64_t group = nodes_[node].group;
  for (const auto* exprs : {&graph_.definitions(group), &graph_.uses(group)}) {
    for (const Expr* expr : *exprs) {
      if (const auto* split = expr->as<Split>()) {
        add_step(node, {split->in}, {split->outer, split->inner});
        add_step(node, {split->outer, split->inner}, {split->in});
      } else if (const auto* merge = expr->as<Merge>()) {
        add_step(node, {merge->outer, merge->inner}, {merge->out});
        add_step(node, {merge->out}, {merge->outer, merge->inner});
      }
    }
  }
}

void AmbiguousAxisSearch::add_step(
    size_t node, const std::vector<IterDomain*>& from, std::vector<IterDomain*> to) {
  Step step;
  for (const IterDomain* id : from) {
    step.from.push_back(node_of(id));
  }
  for (const IterDomain* id : to) {
    step.to_nodes.push_back(node_of(id));
  }
  step.to = std::move(to);
  nodes_[node].steps.push_back(std::move(step));
}

void AmbiguousAxisSearch::follow(const Step& step) {
  Sources sources = 0;
  for (const size_t node : step.from) {
    if (nodes_[node].sources == 0) {
      return;
    }
    sources |= nodes_[node].sources;
  }
  for (size_t i = 0; i < step.to.size(); ++i) {
    record(step.to[i], step.to_nodes[i], sources);
  }
}

/// `id`, which is in `node`, follows from `sources`.
void AmbiguousAxisSearch::record(IterDomain* id, size_t node, Sources sources) {
  if (result_) {
    return;
  }
  Sources& known = nodes_[node].sources;
  const bool is_new = known == 0;
  const Sources common = is_new ? sources : known & sources;
  if (common != known && common != sources) {
    result_ = AmbiguousAxis{id, first_of(known & ~common), first_of(sources & ~common)};
    return;
  }
  if (is_new) {
    reached_.push_back(node);
  }
  if (is_new || common != known) { // new, or it follows from fewer axes
    known = common;
    if (common != all_) {
      queue_.push_back(node);
    }
  }
}

IterDomain* AmbiguousAxisSearch::first_of(Sources sources) const {
  return axes_[std::countr_zero(sources)];
}

} // namespace nvfuser
