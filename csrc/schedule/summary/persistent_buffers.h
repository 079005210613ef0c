// Tensors that are needed before and after a reduction.
//
//   T1 = float(T0)   T2 = max(T1)   T3 = T1 - T2   T4 = exp(T3)   T5 = sum(T4)   T6 = T4 / T5
//   buffers: T1 (for T2: reduced by it, and read beside it by T3), T4 (for T5)
#pragma once

#include <vector>

#include "ir/fusion.h"
#include "schedule/summary/reductions.h"

namespace nvfuser::schedule {

struct PersistentBuffer {
  TensorView* tensor = nullptr;
  /// Positions in the list of reductions whose results meet the tensor again.
  std::vector<size_t> reductions;
  /// Inputs of the fusion that the tensor is computed from without reducing or drawing random
  /// numbers; empty if that is not possible. Keeping these instead is a projection.
  std::vector<TensorView*> projected_inputs;
};

/// Operands before results. A tensor is listed if some reader leads into a reduction of its
/// elements, and another reader meets the result of that reduction.
/// Cost: O(edges * reductions), 64 reductions at a time.
[[nodiscard]] std::vector<PersistentBuffer> find_persistent_buffers(
    const std::vector<Expr*>& exprs,
    const std::vector<TensorView*>& inputs,
    const std::vector<ReductionFacts>& reductions);

} // namespace nvfuser::schedule
