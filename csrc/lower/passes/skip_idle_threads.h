#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// On a target without hardware threads, pass over loops whose threads all stay idle, as those of
/// blocks that a grid of fixed size has too many.
///   before:  THREADS: IF bx * 256 + tx < n: T1[bx * 256 + tx] = ..
///   after:   IF bx * 256 < n: THREADS: IF bx * 256 + tx < n: T1[bx * 256 + tx] = ..
/// A test that stands around every statement with an effect is made once before, at the least value
/// that it compares in the loop. Only inside stay tests of elements, tests that are the same in all
/// threads, which compilers move, and tests that divide by a size, which a loop that runs zero
/// times may guard.
/// Where the first thread alone does something, its test stands around the whole body, and the loop
/// has this one iteration; so it is with loops over blocks.
///   before:  THREADS: { T4 = ..; IF tx == 0: T2[0] = T4 }
///   after:   THREADS: IF tx == 0: { T4 = ..; IF tx == 0: T2[0] = T4 }
/// The first thread alone also does what it alone reads later:
///   before:  THREADS: T4[tx] = ..                 THREADS: IF tx == 0: T2[0] = T4[tx]
///   after:   THREADS: IF tx == 0: T4[tx] = ..     THREADS: IF tx == 0: T2[0] = T4[tx]
/// Requires: regions formed.
void skip_idle_threads(Kernel& kernel);

} // namespace nvfuser
