// The reductions of a fusion and their patterns: what is reduced, what is kept, and in which order
// both lie in memory.
#pragma once

#include <vector>

#include "graph/val_graph.h"
#include "ir/fusion.h"

namespace nvfuser::schedule {

/// Which axes of the operand are reduced, from the outermost in memory to the innermost; axes of
/// size 1 left out.
enum class ReductionPattern : uint8_t {
  All,    // [R]
  Inner,  // [I, R]
  Outer,  // [R, I]
  Sides,  // [R, I, R]
  Middle, // [I, R, I]
  Mixed,  // any other
};

struct ReductionFacts {
  Expr* expr = nullptr;
  TensorView* out = nullptr;     // the first result
  TensorView* operand = nullptr; // the first tensor that is reduced
  ReductionPattern pattern = ReductionPattern::Mixed;
  /// Axes of `out` in the order of memory, reduced ones among them, broadcasts left out.
  IterDomains axes = {};
  /// Classes of the exact graph, sorted: two reductions with equal ones can share loops.
  std::vector<int64_t> reduced = {};
  std::vector<int64_t> kept = {};

  [[nodiscard]] bool has_same_axes(const ReductionFacts& other) const {
    return reduced == other.reduced && kept == other.kept;
  }
};

/// Operands before results. The order of memory is that of the fusion input with most of the axes,
/// or of what it is reshaped to: values between it and the reduction have no memory.
/// Cost: O((reductions + reshapes) * inputs * rank).
[[nodiscard]] std::vector<ReductionFacts> find_reductions(
    const std::vector<Expr*>& exprs, const std::vector<TensorView*>& inputs, const ValGraph& exact);

} // namespace nvfuser::schedule
