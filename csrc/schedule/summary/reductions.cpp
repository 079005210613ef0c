#include "schedule/summary/reductions.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

/// The axes of `out` in the order in which an input has them in memory; axes that it lacks are
/// outermost.
IterDomains in_order_of_input(
    const TensorView* out, const std::vector<TensorView*>& inputs, const ValGraph& exact) {
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
  for (const TensorView* input : inputs) {
    const IterDomains memory = axes_in_memory_order(input);
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
  std::vector<ReductionFacts> found;
  for (Expr* expr : exprs) {
    const std::vector<TensorView*> results = tensor_outputs(expr);
    // Products reduce as well, but not step by step in loops.
    if (!semantics_of(*expr).has_steps || !results.front()->has_reduction()) {
      continue;
    }
    ReductionFacts facts{
        .expr = expr, .out = results.front(), .operand = tensor_inputs(expr).front()};
    facts.axes = in_order_of_input(facts.out, inputs, exact);
    facts.pattern = pattern_of(facts.axes);
    facts.reduced = classes_of(facts.axes, true, exact);
    facts.kept = classes_of(facts.axes, false, exact);
    found.push_back(std::move(facts));
  }
  return found;
}

} // namespace nvfuser::schedule
