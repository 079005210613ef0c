#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Compute the part of a tensor that is read, instead of all of it.
///   before:  T1[m, n] = exp(T0[m, n])   T2 = T1[:a, :b]
///   after:   T1 = T0[:a, :b]            T2 = exp(T1)
/// For operations on elements of one tensor that lead from an input to the slice, of which none is
/// an output. Where the whole is read as well, the part is computed anew. Results are the same, bit
/// for bit.
/// Cost:     O(expressions * rank).
bool slice_before_computing(Fusion& fusion);

} // namespace nvfuser::optimize
