#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Let outputs lie in memory as the input does that most of their axes come from, the first of
/// several. So does PyTorch.
///   before:  T1[n, c, h, w] = exp(T0), where T0 lies as [n, h, w, c]; T1 lies as [n, c, h, w]
///   after:   T1 lies as [n, h, w, c]
/// Axes that do not come from the input are outside of those that do. An order that the definition
/// asks for stays, and a permutation or a reshape ends the search: what is behind it lies as its
/// axes stand. So do products of matrices, and what else is evaluated.
/// Results are the same, bit for bit.
/// Cost:     O(expressions * rank).
bool set_output_order(Fusion& fusion);

} // namespace nvfuser::optimize
