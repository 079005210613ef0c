#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Compute nothing for tensors without elements, and of tensors without elements.
///   before:  T1[0, n] = exp(T0[0, n])       after:  T1 = full([0, n], 0)
///   before:  T1[n] = sum(T0[0, n])          after:  T1 = full([n], 0)
///   before:  T2 = cat(T0[0], T1[n])         after:  what read T2 reads T1, padded by nothing
/// Looks at sizes that are constants. Does nothing for fusions with random tensors that draw from
/// the framework's generator: those behind one that is left out would draw other numbers.
/// Cost:     O(expressions * rank).
bool remove_empty(Fusion& fusion);

} // namespace nvfuser::optimize
