#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Leave out conversions that change nothing, and let the same elements under another shape have
/// the narrower of two types.
///   chains     before:  T1 = Float(T0)   T2 = BFloat16(T1)      T0: BFloat16
///              after:   what read T2 reads T0
///   widening   before:  T1 = Float(T0)   T2 = reshape(T1)
///              after:   T1 = reshape(T0)   T2 = Float(T1)
///   narrowing  before:  T1 = reshape(T0)   T2 = BFloat16(T1)    T2 alone reads T1
///              after:   T1 = BFloat16(T0)   T2 = reshape(T1)
/// Rounding stays: `Float(BFloat16(x))` of a Float is left as it is. A widening cast stays before
/// views that repeat elements (a broadcast), which would convert each of them.
/// Cost:     O(expressions).
bool fold_casts(Fusion& fusion);

} // namespace nvfuser::optimize
