#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Leave a tensor whole that is cut in parts, each of which is computed with alike, and which are
/// concatenated again.
///   before:  T1 = T0[:, :a]   T2 = T0[:, a:]   T3 = exp(T1)   T4 = exp(T2)   T5 = cat(T3, T4)
///   after:   T5 = exp(T0)
/// The parts cover all of T0 in their order, along the dimension in which they are concatenated.
/// Operations on elements may have several operands: each is cut alike, or lacks the dimension, or
/// is a scalar. Nothing else reads what is computed with parts. Results are the same, bit for bit.
/// Cost:     O(expressions * rank).
bool rejoin_slices(Fusion& fusion);

} // namespace nvfuser::optimize
