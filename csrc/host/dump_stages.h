// Prints the texts that NVFUSER_DUMP asks for of a fusion without a schedule.
#pragma once

#include "host/partition.h"
#include "ir/fusion.h"

namespace nvfuser::host {

/// Print a definition as Python, if that is asked for.
void dump_python(const Fusion& definition);

/// Print the stages on the way of `definition` to its kernels, as far as they are asked for.
/// `concretized`: its dynamic shapes resolved; `optimized`: what passes make of it, which is cut as
/// `partition` says.
void dump_stages(
    const Fusion& definition,
    const Fusion& concretized,
    const Fusion& optimized,
    const Partition& partition);

/// Print the pieces that a fusion is cut into as Python, in the order of their runs, if that is
/// asked for. A piece that Python has no words for is printed as math.
void dump_segments(const Partition& partition);

} // namespace nvfuser::host
