// Statements that the threads of a block run together: reductions and scans over threads, and
// reductions over a cluster.
//
// Every thread of the block comes to them. They read their operands, wait where they have to, use
// scratch of their own in shared memory, and write their results.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Whether every thread of the block is sure to wait for all others in it: lanes of one warp meet
/// without.
[[nodiscard]] bool always_waits(const Kernel& kernel, const Expr& collective);

/// Its scratch: values of every thread.
[[nodiscard]] Val* scratch_bytes(Kernel& kernel, const Expr& collective);

/// How much of it no GPU would need: there, a cluster exchanges a value for each warp.
[[nodiscard]] int64_t extra_scratch_bytes(Kernel& kernel, const Expr& collective);

/// Where its scratch begins, in bytes of shared memory; nullptr: not decided yet.
[[nodiscard]] Val* scratch_offset(const Expr& collective);
void set_scratch(Expr& collective, Val* offset);

} // namespace nvfuser
