#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Let the loads of circular buffers run ahead of the loop that reads them.
///   before:  FOR i in n: { T1_s[i % 3] = T0[i]   T2[i] = T1_s[i % 3] }
///   after:   FOR p in 2: T1_s[p] = T0[p]                                                 Prolog
///            FOR i in n: { BLOCKSYNC   T1_s[(i + 2) % 3] = T0[i + 2]   T2[i] = T1_s[i % 3] }
/// One barrier per iteration does for all buffers of a loop. It stands before the reads of what
/// other threads loaded; a load that overwrites what the iteration before has read comes after it,
/// a load that overwrites what is older may come before it. Asynchronous copies are committed once
/// per iteration, loaded or not, so that counting groups says which have arrived, and each thread
/// waits for its own before the barrier. If bulk copies store the buffer, a fence of the async
/// proxy stands there as well.
/// Loads beyond the last iteration: from global memory they are under the range tests of their
/// iteration; if a producer lies elsewhere, the last iterations are a loop of their own without
/// loads (Epilog).
/// Loops whose readers hand stages back have no such barrier: the statements around loads and reads
/// say what they wait for (ir/kernel_nodes.h), and there are as many loads as iterations. Where
/// threads that only load are threads of their own, an iteration stands behind its own loads here;
/// separate_roles takes the loads out.
/// Requires: the loop nest, with stages in storage and indices; no barriers yet.
/// Ensures:  no other pass has to order the accesses of a circular buffer within its loop; no copy
///           is under way after it.
std::optional<Refusal> prefetch_loads(Kernel& kernel);

} // namespace nvfuser
