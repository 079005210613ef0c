#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Decide how often the compiler repeats the bodies of loops.
///   before:  FOR i in 4 unrolled: ..   FOR j in 8: T1[..] = T0[j]   FOR k in 92: ..
///   after:   FOR i in 4 unrolled: ..   FOR j in 8 unrolled: ..      FOR k in 92 unrolled by 4: ..
/// A loop that addresses an array in registers is unrolled: a register has no run-time index. A
/// loop that was bound to `unroll`, or that loads and has few iterations, is unrolled as far as the
/// code stays small: loads of several iterations are then under way together. So is one that adds
/// elements to a Welford, whose counts are constants then. Larger loops with a
/// constant number of iterations get a bound, as a compiler may have none. All others are left to
/// the compiler, unless there are so many that it would take seconds: then none is repeated.
/// Requires: `spill_register_arrays`.
void unroll_loops(Kernel& kernel);

} // namespace nvfuser
