#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Leave out operations on elements that change nothing, and compute those on constants.
///   before:  T1 = T0 * 1.0   T2 = set(T1)   T3 = pow(T2, 2)   T4 = -(-T3)   d5 = 1 - 0.25
///   after:   T3 = T0 * T0    and what read T4 reads T3          d5 is 0.75
/// Only what is exact: NaN and the sign of zeros count, so that `x + 0.0` stays (it makes +0.0 of
/// -0.0), and `x - 0.0` goes.
/// Copies of an input that is written in place stay: they may be what keeps its old value. Those
/// that order grids (`wait_for_prior_grid`) are for schedules by hand, and go like others.
/// Cost:     O(expressions).
bool simplify_pointwise(Fusion& fusion);

} // namespace nvfuser::optimize
