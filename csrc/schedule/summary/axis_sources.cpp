#include "schedule/summary/axis_sources.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "ir/domain_exprs.h"
#include "transform/lost_elements.h"

namespace nvfuser::schedule {
namespace {

/// Whether all axes that a transform reads are present, but for broadcasts.
bool has_all_inputs(const ValGraph& exact, const Expr* transform, const AxisClasses& present) {
  bool has_any = false;
  for (const Val* in : transform->inputs()) {
    if (in->vtype() != ValType::IterDomain) {
      continue; // a factor
    }
    const auto* axis = static_cast<const IterDomain*>(in);
    if (axis->is_broadcast()) {
      continue;
    }
    if (!present.contains(exact.group(axis))) {
      return false;
    }
    has_any = true;
  }
  return has_any;
}

} // namespace

AxesOf::AxesOf(const ValGraph& exact, const TensorView* tensor) : exact_(exact) {
  for (const IterDomain* axis : concrete_axes(tensor)) {
    present_.insert(exact.group(axis));
  }
}

bool AxesOf::have(const IterDomain* axis) {
  const int64_t group = exact_.group(axis);
  if (present_.contains(group)) {
    return true;
  }
  if (exact_.definitions(group).empty()) {
    return false;
  }
  if (!has_all_) {
    add_all_made_of_them();
    has_all_ = true;
  }
  return present_.contains(group);
}

/// From the tensor's axes on: the operands of a cat have few uses, its result many definitions.
void AxesOf::add_all_made_of_them() {
  std::vector<int64_t> queue(present_.begin(), present_.end());
  while (!queue.empty()) {
    const int64_t group = queue.back();
    queue.pop_back();
    for (const Expr* use : exact_.uses(group)) {
      if (!has_all_inputs(exact_, use, present_)) {
        continue;
      }
      for (const Val* out : use->outputs()) {
        const int64_t made = exact_.group(static_cast<const IterDomain*>(out));
        if (present_.insert(made).second) {
          queue.push_back(made);
        }
      }
    }
  }
}

AxisClasses sources_of(const ValGraph& exact, const IterDomains& axes) {
  AxisClasses found;
  std::vector<int64_t> queue;
  transform::LostElements lost_elements;
  const auto add = [&](const Val* id) {
    if (id->vtype() != ValType::IterDomain) {
      return;
    }
    const int64_t group = exact.group(static_cast<const IterDomain*>(id));
    if (found.insert(group).second) {
      queue.push_back(group);
    }
  };
  const auto is_found = [&](const Val* id) {
    return found.contains(exact.group(static_cast<const IterDomain*>(id)));
  };
  for (const IterDomain* axis : axes) {
    add(axis);
  }
  while (!queue.empty()) {
    const int64_t group = queue.back();
    queue.pop_back();
    for (const Expr* made_by : exact.definitions(group)) {
      const bool is_whole = !lost_elements.in(made_by);
      if (is_whole && std::ranges::all_of(made_by->outputs(), is_found)) {
        std::ranges::for_each(made_by->inputs(), add);
      }
    }
  }
  return found;
}

bool has_axis(const ValGraph& exact, const TensorView* tensor, const IterDomain* axis) {
  return AxesOf(exact, tensor).have(axis);
}

AxisClasses resolved_broadcasts(const ValGraph& exact, const std::vector<Expr*>& exprs) {
  AxisClasses resolved;
  for (const Expr* expr : exprs) {
    const TensorView* result = tensor_outputs(expr).front();
    const IterDomains& read = result->maybe_root();
    for (const TensorView* operand : tensor_inputs(expr)) {
      const IterDomains axes = TensorDomain::no_reductions(operand->logical());
      const std::vector<AxisUse> uses = axes_of_use(operand, result);
      for (size_t i = 0; i < axes.size(); ++i) {
        const bool is_resolved = axes[i]->is_broadcast() && uses[i].is_partner &&
                                 uses[i].position < static_cast<int64_t>(read.size()) &&
                                 !read[static_cast<size_t>(uses[i].position)]->is_broadcast();
        if (is_resolved) {
          resolved.insert(exact.group(axes[i]));
        }
      }
    }
  }
  return resolved;
}

IterDomains axes_in_memory_order(const TensorView* tensor) {
  const IterDomains logical = TensorDomain::no_reductions(tensor->logical());
  const IterDomains memory = TensorDomain::no_reductions(tensor->maybe_allocation());
  const bool is_permutation =
      memory.size() == logical.size() && std::ranges::all_of(memory, [&](const IterDomain* axis) {
        return std::ranges::find(logical, axis) != logical.end();
      });
  return is_permutation ? memory : logical;
}

IterDomains concrete_axes(const TensorView* tensor) {
  return TensorDomain::no_broadcasts(TensorDomain::no_reductions(tensor->logical()));
}

} // namespace nvfuser::schedule
