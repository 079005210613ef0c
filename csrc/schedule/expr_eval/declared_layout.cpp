#include "schedule/expr_eval/declared_layout.h"

#include <unordered_set>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"

namespace nvfuser::schedule {
namespace {

bool has_one_position(const IterDomain* axis) {
  return axis->is_implicit_broadcast() || axis->maybe_expanded_extent()->is_one();
}

} // namespace

DeclaredLayout::DeclaredLayout(const TensorView* input) {
  const IterDomains& memory = input->maybe_allocation();
  const Contiguity& contiguity = input->domain()->contiguity();
  const IterDomain* outer = nullptr; // if it is packed against what comes next
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!contiguity[i].has_value()) {
      continue; // a broadcast, or a dimension that was reduced
    }
    if (outer != nullptr) {
      set_inner(outer, memory[i]);
    }
    outer = *contiguity[i] ? memory[i] : nullptr;
  }
}

std::optional<DeclaredLayout> DeclaredLayout::view(
    const TensorView* producer, const TensorView* consumer) const {
  const IterDomains from = TensorDomain::no_reductions(producer->logical());
  const IterDomains& root = consumer->maybe_root();
  const std::vector<AxisUse> uses = axes_of_use(producer, consumer);
  std::unordered_set<const Val*> repeated; // axes of the root whose elements are one
  std::unordered_map<const IterDomain*, const IterDomain*>
      same; // axis of the producer, of the root
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].position != kNoPosition) {
      const IterDomain* partner = root[static_cast<size_t>(uses[i].position)];
      same[from[i]] = partner;
      if (from[i]->has_expanded_extent()) {
        repeated.insert(partner);
      }
    }
  }
  DeclaredLayout layout;
  for (const auto& [axis, next] : inner_) {
    const IterDomain* inner = next;
    while (inner != nullptr && !same.contains(inner)) { // squeezed
      inner = inner_of(inner);
    }
    if (same.contains(axis) && inner != nullptr) {
      layout.set_inner(same.at(axis), same.at(inner));
    }
  }
  if (consumer->has_root()) {
    for (const Expr* transform : exprs_between(root, consumer->logical())) {
      if (repeated.contains(transform->inputs().front()) || !layout.apply(transform)) {
        return std::nullopt;
      }
    }
  }
  return layout;
}

const IterDomain* DeclaredLayout::inner_of(const IterDomain* axis) const {
  const auto found = inner_.find(axis);
  return found == inner_.end() ? nullptr : found->second;
}

const IterDomain* DeclaredLayout::outer_of(const IterDomain* axis) const {
  const auto found = outer_.find(axis);
  return found == outer_.end() ? nullptr : found->second;
}

void DeclaredLayout::set_inner(const IterDomain* axis, const IterDomain* inner) {
  inner_[axis] = inner;
  outer_[inner] = axis;
}

void DeclaredLayout::rename(const IterDomain* axis, const IterDomain* other) {
  if (const IterDomain* inner = inner_of(axis)) {
    inner_.erase(axis);
    set_inner(other, inner);
  }
  if (const IterDomain* outer = outer_of(axis)) {
    outer_.erase(axis);
    set_inner(outer, other);
  }
}

bool DeclaredLayout::apply(const Expr* transform) {
  if (const auto* split = transform->as<Split>()) {
    const IterDomain* inner = inner_of(split->in);
    const IterDomain* outer = outer_of(split->in);
    inner_.erase(split->in);
    outer_.erase(split->in);
    set_inner(split->outer, split->inner);
    if (inner != nullptr) {
      set_inner(split->inner, inner);
    }
    if (outer != nullptr) {
      set_inner(outer, split->outer);
    }
    return true;
  }
  if (const auto* merge = transform->as<Merge>()) {
    if (has_one_position(merge->outer)) {
      rename(merge->inner, merge->out);
      return true;
    }
    if (has_one_position(merge->inner)) {
      rename(merge->outer, merge->out);
      return true;
    }
    if (inner_of(merge->outer) != merge->inner) {
      return false;
    }
    inner_.erase(merge->outer);
    outer_.erase(merge->inner);
    rename(merge->outer, merge->out);
    rename(merge->inner, merge->out);
    return true;
  }
  if (const auto* resize = transform->as<Resize>()) {
    if (const IterDomain* outer = outer_of(resize->in)) { // whose stride the new size does not fit
      inner_.erase(outer);
      outer_.erase(resize->in);
    }
    rename(resize->in, resize->out);
    return true;
  }
  return false;
}

} // namespace nvfuser::schedule
