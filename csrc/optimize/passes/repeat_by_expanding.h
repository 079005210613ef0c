#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Let repeated elements be a view: a new axis that is expanded and merged.
///   before:  T1[2 m] = repeat(T0[m])
///   after:   T2[1, m] = broadcast(T0)   T3[2, m] = expand(T2)   T1[2 m] = reshape(T3)
///   before:  T1[2 m] = cat(T0[m], T0[m])                        after:  the same
/// A reshape has axes that kernels follow back to those of its operand, whatever computes that; for
/// a repetition or a concatenation the operand has to lie in memory. A dimension of one element
/// stays as it is.
/// Cost:     O(expressions * rank).
bool repeat_by_expanding(Fusion& fusion);

} // namespace nvfuser::optimize
