#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Refuse tensors in registers whose size is not constant: the schedule that would give them one is
/// missing, was not propagated to them, or does not inline them deep enough.
std::optional<Refusal> check_register_arrays(Kernel& kernel);

/// Decide which arrays of a thread do not lie in its registers, but in its local memory.
///   before:  ALLOCATE(T1, register, 64), ALLOCATE(T2, register, 1344)
///   after:   T2 is spilled: a loop over it needs no unrolling
/// An array is spilled if it needs more registers than a thread has, alone or beside the others
/// that live at the same time, or if unrolling the loops that address it would be too much code.
/// Requires: final indices; constant sizes.
/// Ensures:  what is spilled has room in the local memory of a thread; else refuses.
std::optional<Refusal> spill_register_arrays(Kernel& kernel);

} // namespace nvfuser
