#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Give every shared buffer its place, and check that register arrays have constant sizes.
///   before:  T3_s = ALLOCATE(shared, 1024)         T5 = BLOCKREDUCE(...)
///   after:   T3_s = ALLOCATE(shared, 1024, at 0)   T5 = BLOCKREDUCE(..., scratch at 4096)
/// Offsets are multiples of 16 bytes and may be expressions of launch dimensions. Reductions share
/// one scratch: each leaves it free before it returns.
/// Ensures:  `kernel.launch.shared_bytes`.
void plan_memory(Kernel& kernel);

/// Mark loops that address register arrays as unrolled: a register has no run-time index.
void unroll_register_loops(Kernel& kernel);

} // namespace nvfuser
