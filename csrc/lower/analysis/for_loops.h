// Questions about, and copies of, the loops of a kernel's tree.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Whether a thread may run the body more than once: not a loop that is bound to a hardware index
/// or is one vector access.
[[nodiscard]] bool is_serial(const ForLoop& loop);

/// Whether each thread runs the body at least once, whatever the sizes are.
[[nodiscard]] bool surely_runs(const ForLoop& loop);

/// The same loop around other statements.
[[nodiscard]] ForLoop* with_body(Kernel& kernel, const ForLoop& loop, Scope body);

} // namespace nvfuser
