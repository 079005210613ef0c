#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Compute the element that is looked up, instead of all those that it is looked up among.
///   before:  T2[m, n] = exp(T0[m, n])   T3[m, 1] = take_along_axis(T2, T1[m, 1], 1)
///   after:   T2[m, 1] = take_along_axis(T0, T1, 1)   T3 = exp(T2)
/// For lookups of one position of a dimension, in what operations on elements make of tensors that
/// lie in memory and of tensors that have one element along the dimension (the statistics of a
/// row). Where the whole is read as well, the element is computed anew, as long as all lookups
/// together repeat no more than a few operations for each of the fusion. Results are the same, bit
/// for bit.
/// Cost:     O(expressions * rank).
bool look_up_before_computing(Fusion& fusion);

} // namespace nvfuser::optimize
