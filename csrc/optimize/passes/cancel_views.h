#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Leave out views that change nothing or undo each other, and join those that follow each other.
///   before:  T1 = broadcast(T0)[N, 1]   T2 = squeeze(T1)[N]       after: what read T2 reads T0
///   before:  T1 = broadcast(T0)[N, 1]   T2 = broadcast(T1)[1, N, 1]
///   after:   T2 = broadcast(T0)[1, N, 1]
///   before:  T1 = permute(T0, [1, 2, 0])   T2 = permute(T1, [2, 0, 1])
///   after:   what read T2 reads T0
/// The same for squeezes of squeezes, a broadcast of what was squeezed, expansions of expansions,
/// and reshapes, slices, pads and expansions to the shape that their operand has.
/// Cost:     O(expressions * rank).
bool cancel_views(Fusion& fusion);

} // namespace nvfuser::optimize
