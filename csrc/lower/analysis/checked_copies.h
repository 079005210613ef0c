// Asynchronous copies on a target without them, as its check for races knows them.
//
// There a copy is a loop like any other, which ends before the next statement begins. With
// `kernel_debug` its kernel has the commits, waits and fences that the copies would need all the
// same: the check for races (runtime/cpu/race_copies.h) counts them, and reports accesses that a
// GPU would make too early.
#pragma once

#include "lower/analysis/async_copies.h"

namespace nvfuser {

/// Whether the kernel has such statements for a check.
[[nodiscard]] bool checks_copies(const Kernel& kernel);

/// How the copy that defines a tensor does, or would do; nullptr: no commit or wait is about it.
[[nodiscard]] const AsyncMechanism* counted_mechanism(const Kernel& kernel, const Expr* definition);

/// The tensor in shared memory that a statement stores as a box, or as an element of one;
/// nullptr: it stores none.
[[nodiscard]] const TensorView* box_stored_by(const Kernel& kernel, const Expr& statement);

/// Whether a statement writes to shared memory as bulk copies do.
[[nodiscard]] bool loads_box(const Kernel& kernel, const Expr& statement);

/// Whether a statement is a commit, wait or fence: each thread counts it.
[[nodiscard]] bool counts_copies(const Expr& statement);

} // namespace nvfuser
