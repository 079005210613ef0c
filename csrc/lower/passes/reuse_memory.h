#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Add the barriers that `promote_reuse` asks for.
///   before:  T1_s = ..   T2 = T1_s    T3_s = ..   T4 = T3_s          T1_s promotes reuse
///   after:   T1_s = ..   T2 = T1_s    BLOCKSYNC   T3_s = ..   T4 = T3_s
/// One before the next buffer after the last use of the promoting one, and one at the end of the
/// loop around both, if there is one; none where barriers stand there already.
/// Requires: barriers; no conditions, which may not contain more.
void promote_reuse(Kernel& kernel);

/// Give every shared buffer, and the scratch of every reduction over threads, its place.
///   before:  T1_s = ALLOCATE(1024)         BLOCKSYNC   T3_s = ALLOCATE(512)
///   after:   T1_s = ALLOCATE(1024, at 0)   BLOCKSYNC   T3_s = ALLOCATE(512, at 0)
/// Buffers whose lives meet, or that no barrier separates (lower/analysis/buffer_lives.h), lie side
/// by side; all others as low as they can. Places are multiples of 16 bytes and may be expressions
/// of sizes and launch dimensions: then one buffer is put beside another only if that is proven to
/// fit whatever the sizes are.
/// Ensures:  addresses, `workspace_offset` of reductions, `kernel.launch.shared_bytes`.
/// Cost:     O(buffers^2 * uses^2 * barriers).
std::optional<Refusal> reuse_memory(Kernel& kernel);

} // namespace nvfuser
