#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Compute with elements before they are repeated, instead of with each repetition.
///   before:  T1[m, 1] = broadcast(T0[m])   T2[m, n] = expand(T1)   T3 = exp(T2)
///   after:   T1[m] = exp(T0)   T2[m, 1] = broadcast(T1)   T3[m, n] = expand(T2)
///   before:  T1[2 m] = repeat(T0[m])   T2 = T1 * T1
///   after:   T1 = T0 * T0   T2[2 m] = repeat(T1)
/// For operations whose operands are the repeated tensor, which nothing else reads, and scalars.
/// Results are the same, bit for bit.
/// Cost:     O(expressions * rank).
bool compute_before_repeating(Fusion& fusion);

} // namespace nvfuser::optimize
