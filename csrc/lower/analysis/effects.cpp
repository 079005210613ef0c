#include "lower/analysis/effects.h"

#include <algorithm>

#include "ir/kernel_traits.h"
#include "ir/scopes.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

bool is_in_memory(const TensorView* tensor) {
  return tensor->memory_type() != MemoryType::Local;
}

bool meet(
    const std::unordered_set<const TensorView*>& a,
    const std::unordered_set<const TensorView*>& b) {
  const auto& [small, large] = a.size() < b.size() ? std::tie(a, b) : std::tie(b, a);
  return std::any_of(
      small.begin(), small.end(), [&](const TensorView* tensor) { return large.count(tensor); });
}

void read(const TensorView* tensor, Effects& effects) {
  effects.reads.insert(tensor);
  effects.reads_memory = effects.reads_memory || is_in_memory(tensor);
}

void write(const TensorView* tensor, Effects& effects) {
  effects.writes.insert(tensor);
  effects.writes_memory = effects.writes_memory || is_in_memory(tensor);
}

} // namespace

void Effects::add(const Effects& other) {
  reads.insert(other.reads.begin(), other.reads.end());
  writes.insert(other.writes.begin(), other.writes.end());
  reads_memory = reads_memory || other.reads_memory;
  writes_memory = writes_memory || other.writes_memory;
  waits = waits || other.waits;
  declares = declares || other.declares;
  loops = loops || other.loops;
}

bool may_change_places(const Effects& a, const Effects& b) {
  const bool share_memory = (a.writes_memory && (b.writes_memory || b.reads_memory)) ||
                            (b.writes_memory && a.reads_memory);
  const bool is_pinned = a.declares || b.declares || (a.waits && (b.waits || b.reads_memory)) ||
                         (b.waits && a.reads_memory);
  return !share_memory && !is_pinned && !meet(a.writes, b.writes) && !meet(a.writes, b.reads) &&
         !meet(a.reads, b.writes);
}

Effects& EffectsOfNodes::known(const Expr* node) {
  if (const auto found = known_.find(node); found != known_.end()) {
    return found->second;
  }
  Effects effects;
  effects.waits = traits_of(*node).is_ordered;
  effects.loops = node->is_a<ForLoop>() && node->as<ForLoop>()->loop_kind != LoopKind::Vector;
  if (const auto* allocate = node->as<Allocate>()) {
    write(allocate->buffer, effects);
  }
  for_each_read(*node, [&](const TensorIndex& element) { read(element.view(), effects); });
  for_each_write(*node, [&](const TensorIndex& element) { write(element.view(), effects); });
  const bool has_scalars = std::any_of(
      node->outputs().begin(), node->outputs().end(),
      [](const Val* out) { return out->is_scalar(); });
  const auto* grid = node->as<GridReduction>();
  effects.declares = has_scalars || (grid != nullptr && grid->is_last != nullptr);
  if (node->predicate() != nullptr) {
    for (const TensorIndex* element : elements_in(node->predicate())) {
      read(element->view(), effects);
    }
  }
  for (const Scope* body : bodies_of(*node)) {
    for (const Expr* child : *body) {
      effects.add(of(child));
    }
  }
  return known_[node] = std::move(effects);
}

} // namespace nvfuser
