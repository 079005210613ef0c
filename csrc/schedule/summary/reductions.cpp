#include "schedule/summary/reductions.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

/// Orders of axes in memory: those of inputs, and what their axes are reshaped to. A reshape of a
/// tensor whose elements lie in the order of its axes has its axes in that order.
std::vector<IterDomains> orders_in_memory(
    const std::vector<Expr*>& exprs,
    const std::vector<TensorView*>& inputs,
    const ValGraph& exact) {
  std::vector<IterDomains> orders;
  for (const TensorView* input : inputs) {
    orders.push_back(axes_in_memory_order(input));
  }
  for (const Expr* expr : exprs) {
    const auto* reshape = expr->as<ReshapeOp>();
    if (reshape == nullptr) {
      continue;
    }
    const IterDomains read = TensorDomain::no_reductions(reshape->arg->logical());
    const bool is_in_order = std::ranges::any_of(orders, [&](const IterDomains& memory) {
      return std::ranges::equal(memory, read, [&](const IterDomain* a, const IterDomain* b) {
        return exact.are_mapped(a, b);
      });
    });
    if (is_in_order) {
      orders.push_back(reshape->out->logical());
    }
  }
  return orders;
}

/// The axes of `out` in the order that memory has most of them in; axes that it lacks are
/// outermost.
IterDomains in_order_of_memory(
    const TensorView* out, const std::vector<IterDomains>& orders, const ValGraph& exact) {
  IterDomains axes = TensorDomain::no_broadcasts(out->logical());
  const auto place_in = [&](const IterDomains& memory, const IterDomain* axis) -> int64_t {
    for (size_t i = 0; i < memory.size(); ++i) {
      if (exact.are_mapped(memory[i], axis)) {
        return static_cast<int64_t>(i);
      }
    }
    return -1;
  };
  IterDomains best;
  int64_t most = 0;
  for (const IterDomains& memory : orders) {
    const int64_t shared = std::ranges::count_if(
        axes, [&](const IterDomain* axis) { return place_in(memory, axis) >= 0; });
    if (shared > most) {
      most = shared;
      best = memory;
    }
  }
  std::ranges::stable_sort(axes, [&](const IterDomain* a, const IterDomain* b) {
    return place_in(best, a) < place_in(best, b);
  });
  return axes;
}

ReductionPattern pattern_of(const IterDomains& axes) {
  std::vector<bool> runs; // of axes that are all reduced, or all kept
  for (const IterDomain* axis : axes) {
    if (runs.empty() || runs.back() != axis->is_reduction()) {
      runs.push_back(axis->is_reduction());
    }
  }
  const bool ends_reduced = !runs.empty() && runs.back();
  switch (runs.size()) {
    case 1: return ends_reduced ? ReductionPattern::All : ReductionPattern::Mixed;
    case 2: return ends_reduced ? ReductionPattern::Inner : ReductionPattern::Outer;
    case 3: return ends_reduced ? ReductionPattern::Sides : ReductionPattern::Middle;
    default: return ReductionPattern::Mixed;
  }
}

std::vector<int64_t> classes_of(const IterDomains& axes, bool reduced, const ValGraph& exact) {
  std::vector<int64_t> classes;
  for (const IterDomain* axis : axes) {
    if (axis->is_reduction() == reduced) {
      classes.push_back(exact.group(axis));
    }
  }
  std::ranges::sort(classes);
  return classes;
}

} // namespace

std::vector<ReductionFacts> find_reductions(
    const std::vector<Expr*>& exprs,
    const std::vector<TensorView*>& inputs,
    const ValGraph& exact) {
  const std::vector<IterDomains> orders = orders_in_memory(exprs, inputs, exact);
  std::vector<ReductionFacts> found;
  for (Expr* expr : exprs) {
    const std::vector<TensorView*> results = tensor_outputs(expr);
    // Products reduce as well, but not step by step in loops.
    if (!semantics_of(*expr).has_steps || !results.front()->has_reduction()) {
      continue;
    }
    ReductionFacts facts{
        .expr = expr, .out = results.front(), .operand = tensor_inputs(expr).front()};
    facts.axes = in_order_of_memory(facts.out, orders, exact);
    facts.pattern = pattern_of(facts.axes);
    facts.reduced = classes_of(facts.axes, true, exact);
    facts.kept = classes_of(facts.axes, false, exact);
    found.push_back(std::move(facts));
  }
  return found;
}

} // namespace nvfuser::schedule
