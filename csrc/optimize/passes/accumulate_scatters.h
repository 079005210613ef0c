#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Let what is scattered into rows of zeros, which are then added up, be added where it belongs.
///   before:  T1[m, n] = full(0)   T2[m, n] = scatter(T1, dim = 1, T0[m, 1], 1)   T3[n] = sum(T2,
///   0) after:   T4[n] = full(0)   T5[m] = squeeze(T0)
///            T3[n] = scatter(T4, dim = 0, T5, 1, accumulate with +)
/// So numbers are counted without a table of m times n. For whole numbers, whose sums do not depend
/// on the order, and for one scalar that every row writes once.
/// Cost:     O(expressions * rank).
bool accumulate_scatters(Fusion& fusion);

} // namespace nvfuser::optimize
