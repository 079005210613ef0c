#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Wait for boxes on their way out of shared memory, before it changes and before the kernel ends.
///   before:  BULKSTORE( T1, .. )   BLOCKSYNC   T1[..] = ..
///   after:   BULKSTORE( T1, .. )   BULKSTOREWAIT(only_reads)   BLOCKSYNC   T1[..] = ..
/// The thread that stores waits in front of a barrier behind which others may write, or in front of
/// a statement with which it writes itself.
/// Requires: barriers between the reads and the next writes of what is stored (insert_syncs).
void wait_for_bulk_stores(Kernel& kernel);

} // namespace nvfuser
