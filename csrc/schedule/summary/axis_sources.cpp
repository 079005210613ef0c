#include "schedule/summary/axis_sources.h"

#include <algorithm>

#include "ir/domain_exprs.h"
#include "transform/lost_elements.h"

namespace nvfuser::schedule {
namespace {

/// Whether an axis of `tensor` is in the class, or all of the axes that its members are made of.
class Presence {
 public:
  Presence(const ValGraph& exact, const TensorView* tensor) : exact_(exact) {
    for (const IterDomain* axis : concrete_axes(tensor)) {
      own_.insert(exact.group(axis));
    }
  }

  bool has(const IterDomain* axis) {
    const int64_t group = exact_.group(axis);
    if (own_.contains(group)) {
      return true;
    }
    if (!visited_.insert(group).second) {
      return false; // made of itself
    }
    return std::ranges::any_of(
        exact_.definitions(group), [&](const Expr* made_by) { return has_all_inputs(made_by); });
  }

 private:
  bool has_all_inputs(const Expr* made_by) {
    bool has_any = false;
    for (const Val* in : made_by->inputs()) {
      if (in->vtype() != ValType::IterDomain) {
        continue; // a factor
      }
      const auto* axis = static_cast<const IterDomain*>(in);
      if (axis->is_broadcast()) {
        continue;
      }
      if (!has(axis)) {
        return false;
      }
      has_any = true;
    }
    return has_any;
  }

  const ValGraph& exact_;
  AxisClasses own_;
  AxisClasses visited_;
};

} // namespace

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
  return Presence(exact, tensor).has(axis);
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
