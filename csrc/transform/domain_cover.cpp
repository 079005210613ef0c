// The axes to be covered are a front of the graph of transforms. It is moved, one transform at a
// time, towards the given axes: forward where a transform leads to one of them, else backward. A
// transform moves the front only if all axes on its near side are in it, so the front always covers
// every element once. Over a resize it moves only to the side that has all elements of the other.
// In the end it must be the given axes.
#include "transform/domain_cover.h"

#include <algorithm>
#include <unordered_set>

#include "eval/simplify.h"
#include "graph/op_semantics.h"
#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "ir/scalar.h"
#include "ir/topo_sort.h"
#include "ir/transaction.h"

namespace nvfuser::transform {
namespace {

/// A loop of one iteration that nothing but size 1 can come from: it may appear or vanish.
bool is_free_broadcast(const Val* val) {
  const auto* id = static_cast<const IterDomain*>(val);
  return id->is_broadcast() && id->extent()->is_one() && !id->has_expanded_extent();
}

class Front {
 public:
  Front(const IterDomains& from, const IterDomains& to)
      : axes_(from.begin(), from.end()),
        target_(to.begin(), to.end()),
        forward_(sorted_definitions({to.begin(), to.end()})),
        backward_(sorted_definitions({from.begin(), from.end()})) {
    std::reverse(backward_.begin(), backward_.end());
    leads_to_target_.insert(forward_.begin(), forward_.end());
  }

  void move() {
    while (step_forward() || step_backward()) {
    }
  }

  [[nodiscard]] bool contains(const IterDomain* id) const {
    return axes_.count(id) != 0;
  }
  [[nodiscard]] const std::unordered_set<const Val*>& axes() const {
    return axes_;
  }

 private:
  [[nodiscard]] bool is_movable(const std::vector<Val*>& side) const {
    bool is_present = false;
    for (const Val* id : side) {
      if (target_.count(id) != 0) {
        return false;
      }
      if (axes_.count(id) != 0) {
        is_present = true;
      } else if (id->definition() != nullptr || !is_free_broadcast(id)) {
        return false;
      }
    }
    return is_present;
  }

  /// `direction`: 1 from inputs to outputs, -1 back.
  [[nodiscard]] static bool keeps_elements(const Expr* expr, int64_t direction) {
    const auto* resize = expr->as<Resize>();
    if (resize == nullptr) {
      return true;
    }
    IndexSimplifier simplifier(*expr->fusion());
    const auto grows = [&](Val* width) {
      return simplifier.prove_nonnegative(direction > 0 ? width : scalar::neg(width));
    };
    return grows(resize->left) && grows(resize->right);
  }

  void replace(Expr* expr, const std::vector<Val*>& near, const std::vector<Val*>& far) {
    for (const Val* id : near) {
      axes_.erase(id);
    }
    axes_.insert(far.begin(), far.end());
    used_.insert(expr);
  }

  bool step_forward() {
    for (Expr* expr : forward_) {
      if (used_.count(expr) == 0 && is_movable(expr->inputs()) && keeps_elements(expr, 1)) {
        replace(expr, expr->inputs(), expr->outputs());
        return true;
      }
    }
    return false;
  }

  bool step_backward() {
    for (Expr* expr : backward_) {
      const auto& outputs = expr->outputs();
      const bool is_in_front = std::all_of(outputs.begin(), outputs.end(), [&](const Val* id) {
        return axes_.count(id) != 0 && target_.count(id) == 0;
      });
      if (used_.count(expr) == 0 && is_in_front && !is_needed_below(outputs) &&
          keeps_elements(expr, -1)) {
        replace(expr, outputs, expr->inputs());
        return true;
      }
    }
    return false;
  }

  /// Another transform of these axes leads to the target.
  [[nodiscard]] bool is_needed_below(const std::vector<Val*>& ids) const {
    return std::any_of(ids.begin(), ids.end(), [&](const Val* id) {
      return std::any_of(id->all_uses().begin(), id->all_uses().end(), [&](Expr* use) {
        return leads_to_target_.count(use) != 0 && used_.count(use) == 0;
      });
    });
  }

  std::unordered_set<const Val*> axes_;
  std::unordered_set<const Val*> target_;
  std::vector<Expr*> forward_;  // operands before results
  std::vector<Expr*> backward_; // results before operands
  std::unordered_set<const Expr*> leads_to_target_;
  std::unordered_set<const Expr*> used_;
};

/// Axes that `broadcast` put among the loops: they come from nowhere.
IterDomains inserted_axes(const TensorView* tv) {
  std::unordered_set<const Val*> others(tv->logical().begin(), tv->logical().end());
  others.insert(tv->maybe_root().begin(), tv->maybe_root().end());
  others.insert(first_axes(tv).begin(), first_axes(tv).end());
  std::vector<Val*> loop(tv->loop().begin(), tv->loop().end());
  IterDomains inserted;
  const auto add = [&](const std::vector<Val*>& vals) {
    for (Val* val : vals) {
      auto* id = static_cast<IterDomain*>(val);
      if (id->definition() == nullptr && id->is_broadcast() && others.insert(id).second) {
        inserted.push_back(id);
      }
    }
  };
  add(loop);
  for (const Expr* expr : sorted_definitions(loop)) {
    add(expr->inputs());
  }
  return inserted;
}

const char* name_of_covered(const TensorView* tv, CoveringDomain domain) {
  return domain == CoveringDomain::Loop && loops_over_operands(tv) ? "positions" : "logical domain";
}

IterDomains covered_axes(const TensorView* tv, CoveringDomain domain) {
  if (domain == CoveringDomain::Allocation) {
    return tv->logical();
  }
  IterDomains axes = first_axes(tv);
  for (IterDomain* id : inserted_axes(tv)) {
    axes.push_back(id);
  }
  return axes;
}

Refusal uncovered(
    const TensorView* tv, CoveringDomain domain, const IterDomain* id, const std::string& fault) {
  const char* given = domain == CoveringDomain::Loop ? "loop" : "allocation";
  const char* covered = name_of_covered(tv, domain);
  return refuse(
      {.headline =
           {"The ", given, " domain does not cover the ", covered, " exactly: ", id->to_string(),
            " ", fault},
       .node = describe(tv),
       .expected = {"axes derived from the ", covered, " by transforms, each element once"},
       .found = {id->to_string(), " ", fault},
       .fix = "give all results of a split, or the axis that was split, but not both"});
}

std::optional<Refusal> find_repeated_axis(
    const TensorView* tv, const IterDomains& ids, CoveringDomain domain) {
  std::unordered_set<const IterDomain*> given;
  for (const IterDomain* id : ids) {
    tv->fusion()->check_contains(id);
    if (!given.insert(id).second) {
      return uncovered(tv, domain, id, "is given twice");
    }
  }
  return std::nullopt;
}

/// Compares the given axes with the front when it has moved as far as it can.
std::optional<Refusal> find_other_elements(
    const TensorView* tv, const IterDomains& ids, CoveringDomain domain) {
  Front front(covered_axes(tv, domain), ids);
  front.move();
  for (const IterDomain* id : ids) {
    if (!front.contains(id) && !is_free_broadcast(id)) {
      return uncovered(
          tv, domain, id,
          std::string("is not reached from the ") + name_of_covered(tv, domain) +
              ", or overlaps another axis");
    }
  }
  // In order of creation, so that the same mistake has the same message.
  std::vector<const Val*> rest(front.axes().begin(), front.axes().end());
  std::sort(rest.begin(), rest.end(), [](const Val* a, const Val* b) {
    return a->serial() < b->serial();
  });
  for (const Val* val : rest) {
    const auto* id = static_cast<const IterDomain*>(val);
    const bool may_vanish =
        is_free_broadcast(id) || (domain == CoveringDomain::Allocation && id->is_reduction());
    if (!may_vanish && std::find(ids.begin(), ids.end(), id) == ids.end()) {
      return uncovered(tv, domain, id, "is not covered");
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_wrong_cover(
    const TensorView* tv, const IterDomains& ids, CoveringDomain domain) {
  NVF_RETURN_REFUSAL(find_repeated_axis(tv, ids, domain));
  Transaction transaction(tv->fusion());
  std::optional<Refusal> refusal = find_other_elements(tv, ids, domain);
  transaction.take_back(); // widths of resizes that were compared with 0
  return refusal;
}

} // namespace nvfuser::transform
