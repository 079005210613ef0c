#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Take expressions on tensors out of the graph that lead to no output.
///   before:  T1 = exp(T0)   T2 = neg(T0)   return T2
///   after:   T2 = neg(T0)                  return T2
/// Scalars stay: sizes may be computed with them.
/// Ensures:  all uses of a tensor lead to outputs.
/// Cost:     O(expressions).
bool remove_dead_exprs(Fusion& fusion);

} // namespace nvfuser::optimize
