// The counters at which blocks of a kernel meet. A kernel finds them at rest, and leaves them so
// (runtime/cuda/grid_sync.cuh): launches of one stream, of which none begins before the one before
// it has ended, share them, and they are filled with zeros once.
//
// A kernel that fails takes its context, and so this memory, with it. One that is refused at the
// launch has not touched them.
#pragma once

#include <cstdint>

#include "base/device.h"
#include "runtime/cuda_driver.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser {

struct RunCounters {
  void* data = nullptr;
  DlpackHandle own; // memory of this run alone; empty: the stream's
};

/// Counters of `bytes` at rest, for launches that come next on `stream`: those of the stream,
/// unless they are many, or the launches are captured. A graph may run beside launches of the
/// stream: it has its own, which it fills.
/// Requires: a CUDA device's context is current.
[[nodiscard]] RunCounters counters_for(
    int64_t bytes, Device device, CUstream stream, OutputAllocator& allocator);

} // namespace nvfuser
