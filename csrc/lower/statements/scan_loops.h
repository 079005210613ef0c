// The loops of a scan along its axis.
//
// In one thread, a register holds what was combined so far, and the loops over the axis visit its
// positions in increasing order. With one thread dimension, each thread has a chunk of neighbouring
// positions, its items, and serial loops outside of that go from one round of all threads to the
// next:
//
//   axis = 0 .. N - 1   split into [rounds, threads, items]   of which any may be missing
//
// So the axis may be split, and the serial parts be unrolled; it cannot be merged with another
// axis, bound to blocks or vectors, or visited in another order.
#pragma once

#include "ir/all_nodes.h"
#include "lower/analysis/loop_model.h"

namespace nvfuser {

/// Loops over the axis of a scan, the outer part of a split before the inner part, without those
/// that run once.
struct ScanLoops {
  LoopNest rounds;        // all of them, if one thread runs through the axis
  Loop* thread = nullptr; // bound to a thread dimension
  LoopNest items;         // of one thread
};

/// The loops of `nest` that run over the axis of `scan`, into `result`. Says no, naming the axis,
/// if they do not, together and in their order, run over it in one thread or over one thread
/// dimension, or if something that depends on the result is computed in the loops over a thread's
/// items.
[[nodiscard]] std::optional<Refusal> find_scan_loops(
    const Kernel& kernel, const ScanOp& scan, const LoopNest& nest, ScanLoops& result);

} // namespace nvfuser
