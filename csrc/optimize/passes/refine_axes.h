#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Let no reshape stand between a reduction and what is computed from its rows: all tensors have
/// the parts of axes that reshapes merge and split. Inputs are split, and outputs merged, by
/// reshapes, which are views in memory.
///   before:  T1[n g, d s] = reshape(T0[n, g d, s])   T2[n g] = sum(T1)   T3 = T1 * T2
///            T4[n, g d, s] = reshape(T3) * T5[g d]
///   after:   T1[n, g, d, s] = reshape(T0)            T2[n, g] = sum(T1)  T3 = T1 * T2
///            T6[g, d] = reshape(T5)                  T4[n, g d, s] = reshape(T3 * T6)
/// Where a reshape is read behind a reduction, its axes have common parts, and all that has such
/// axes is computed on elements, broadcast, squeezed, permuted or reduced; else nothing is changed.
/// Cost:     O(expressions * rank).
bool refine_axes(Fusion& fusion);

} // namespace nvfuser::optimize
