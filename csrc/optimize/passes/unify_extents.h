#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Give axes that are the same one size: a constant if any of them has one, else that of the first
/// input. Sizes that are computed from these are computed anew.
///   before:  T0[i0, i2]   T1[i3, 8]   T2[i0, 8] = T0 + T1      reshape to (i0 * i2)
///   after:   T0[i0, 8]    T1[i0, 8]   T2[i0, 8] = T0 + T1      reshape to (i0 * 8)
/// Sizes that contradict each other stay: the error is that of a run.
/// Cost:     near-linear in the axes.
bool unify_extents(Fusion& fusion);

} // namespace nvfuser::optimize
