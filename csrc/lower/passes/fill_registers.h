#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Set a register that is loaded under a condition, and read outside of it, to 0 before.
///   before:  FOR i: { IF 4*i + tx < n: T2 = T0[4*i + tx]      T3[i] = cast(T2) }
///   after:   FOR i: { T2 = 0    IF 4*i + tx < n: T2 = T0[4*i + tx]    T3[i] = cast(T2) }
/// Values computed for holes have no effect, but the way they are compiled has: as the register is
/// undefined where the condition does not hold, the assembler of GPUs has all iterations load into
/// one register, and each load waits until the one before it is there.
/// Arrays stay as they are: an element has a register of its own.
/// Requires: conditions merged. Ensures: the same results; only targets with hardware threads
/// change.
/// Cost: O(statements).
void fill_registers(Kernel& kernel);

} // namespace nvfuser
