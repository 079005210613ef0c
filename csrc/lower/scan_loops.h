// The loops of a scan along its axis.
//
// A scan runs in one thread: a register holds what was combined so far, and the loops over the axis
// visit its positions in increasing order. So the axis may be split, and the parts be unrolled; it
// cannot be merged with another axis, bound to hardware, or visited in another order.
#pragma once

#include "ir/all_nodes.h"
#include "lower/loop_model.h"

namespace nvfuser {

/// The loops of `nest` that run over the axis of `scan`. A UserError that names the axis if they do
/// not, together and in their order, run over it in one thread.
[[nodiscard]] LoopNest scanned_loops(
    const Kernel& kernel, const ScanOp& scan, const LoopNest& nest);

} // namespace nvfuser
