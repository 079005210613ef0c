// Memory beside arguments and outputs that launches of one stream share, one after the other: the
// counters at which blocks of a kernel meet, and room for its partial results.
//
// A kernel finds counters at rest, and leaves them so (runtime/cuda/grid_sync.cuh): launches of one
// stream, of which none touches them before the one before it has ended, share them, and they are
// filled with zeros once. What a workspace holds, no later kernel reads.
//
// A kernel that fails takes its context, and so this memory, with it. One that is refused at the
// launch has not touched it.
#pragma once

#include <cstdint>

#include "base/device.h"
#include "runtime/cuda_driver.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser {

/// A piece of memory for a launch.
struct LaunchPiece {
  void* data = nullptr;
  DlpackHandle own; // memory of this run alone; empty: the stream's
};

struct StreamMemory {
  LaunchPiece counters;
  LaunchPiece workspace;
};

/// So many bytes of counters at rest, and of room for partial results of one kernel, for the launch
/// that comes next on `stream`: those of the stream, unless they are many, or the launch is
/// captured. A graph may run beside launches of the stream: it has its own, and fills counters.
/// Requires: a CUDA device's context is current.
[[nodiscard]] StreamMemory stream_memory_for(
    int64_t counter_bytes,
    int64_t workspace_bytes,
    Device device,
    CUstream stream,
    OutputAllocator& allocator);

} // namespace nvfuser
