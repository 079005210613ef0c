#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Multiply by a reciprocal instead of dividing, where one reciprocal serves many elements.
///   rows       before:  T2[m, 1] = broadcast(T1[m])   T3[m, n] = T0 / T2
///              after:   T4[m] = 1 / T1   T2[m, 1] = broadcast(T4)   T3[m, n] = T0 * T2
///   constants  before:  T1 = T0 / 3.0                       after:  T1 = T0 * 0.333..
///   roots      before:  T1 = sqrt(T0)   T2 = T3 / T1        after:  T1 = rsqrt(T0)   T2 = T3 * T1
/// For results of type Float: they differ from the quotient by at most 2 units in the last place
/// instead of half of one. (1 / x of subnormal numbers may be infinite where y / x is not: rows are
/// rewritten where the divisor provably has a reciprocal, or NVFUSER_ENABLE=fast_math allows it.)
/// Cost:     O(expressions).
bool use_reciprocals(Fusion& fusion);

} // namespace nvfuser::optimize
