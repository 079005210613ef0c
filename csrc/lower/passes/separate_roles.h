#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Give the loads of circular buffers to threads that only load.
///   before:  FOR i in n: { ASYNCWAIT(Set)           T1_s[i % 3] = BULKLOAD
///                          ASYNCCOMMIT(CpAsyncBulk)
///                          ASYNCWAIT(CpAsyncBulk)   T2[i] = T1_s[i % 3]   ASYNCCOMMIT(Set) }
///   after:   IF threadIdx.x >= 0:
///              FOR i in n: { ASYNCWAIT(CpAsyncBulk)   T2[i] = T1_s[i % 3]   ASYNCCOMMIT(Set) }
///            ELSE: IF threadIdx.x == -128:
///              FOR i in n: { ASYNCWAIT(Set)   T1_s[i % 3] = BULKLOAD   ASYNCCOMMIT(CpAsyncBulk) }
/// The loading thread runs the loops around the loads, and no other statement: it may be ahead by
/// several iterations of an outer loop. The threads that compute run everything else, barriers of
/// the block among them. Conditions about computing threads are gone from the loads.
/// Where there are no hardware threads the kernel stays as it is: an order of both roles in which
/// no thread has to wait.
/// Requires: addresses of shared memory; statements in the places that they keep.
/// Ensures:  a loading thread comes to no barrier but those of stages.
void separate_roles(Kernel& kernel);

} // namespace nvfuser
