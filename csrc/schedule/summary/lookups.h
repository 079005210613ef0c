// How a kernel reads inputs at other positions than it writes: through slices, pads and gathers.
// The result of such an expression is a copy of elements of the input, so that it is a load.
#pragma once

#include <vector>

#include "schedule/summary/vector_runs.h"

namespace nvfuser::schedule {

struct LookupAccess {
  TensorView* result = nullptr; // of the slice, the pad or the gather
  const TensorView* input = nullptr;
  size_t position = 0; // of the input among those of the fusion
  /// Where lanes are split off the innermost axis of the reference: all of them are read at
  /// neighbouring positions of memory, or none is read.
  VectorRun run = {};
};

/// Expressions that copy elements of an input at other positions, in the order of `exprs`. `axes`:
/// those of the reference, outermost first.
/// Cost: O(lookups * transforms that lead to an axis).
[[nodiscard]] std::vector<LookupAccess> find_lookups(
    const Fusion& fusion,
    const ValGraph& exact,
    const std::vector<Expr*>& exprs,
    const IterDomains& axes);

} // namespace nvfuser::schedule
