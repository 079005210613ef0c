#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Let activations that are written out be the functions that kernels have for them.
///   before:  T1 = exp(-T0)   T2 = 1 + T1   T3 = 1 / T2         after:  T3 = sigmoid(T0)
///   before:  T1 = tanh(T0)   T2 = 1 + T1   T3 = 0.5 * T2       after:  T3 = sigmoid(2 * T0)
///   before:  T1 = sigmoid(T0)   T2 = T0 * T1                   after:  T2 = silu(T0)
/// So gelu by tanh, 0.5 * x * (1 + tanh(u)), becomes x * sigmoid(2 u): one exponential instead of a
/// tanh, and small results do not come from a difference of numbers near 1.
/// For results of type Float: they agree within 4 units in the last place of x.
/// Requires: merge_equal_exprs; operands that are equal are one tensor.
/// Cost:     O(expressions).
bool use_sigmoid(Fusion& fusion);

} // namespace nvfuser::optimize
