#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Make the loop nest of the kernel and put a statement for every expression into it.
///   before:  T2[i0, i1] = T0[i0, i1] + T1[i0, i1]                (sorted expressions)
///   after:   FOR i0: FOR i1: T2[..] = T0[..] + T1[..]            (`kernel.body`)
/// Allocations stand where the loops shared with consumers end; the initial value of a reduction
/// before the first loop of a reduced axis.
/// Requires: sorted expressions, the loop model with loop indices, the simplifier.
/// Ensures:  `kernel.body`, `kernel.tests`, `kernel.origin`.
/// Cost:     O(statements * loops).
std::optional<Refusal> build_loop_nests(Kernel& kernel);

} // namespace nvfuser
