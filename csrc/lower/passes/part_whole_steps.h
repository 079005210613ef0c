#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Let a loop of a processor run through its whole steps without their test, and through the rest
/// in a loop of its own.
///   before:  FOR i in 0:m: FOR j in 0:4: IF i * 64 + j * 16 + 15 < n: fast ELSE: slow
///   after:   w = min(ceilDiv(max(n - 63, 0), 64), m)
///            FOR i in 0:w: FOR j in 0:4: fast
///            FOR i in w:m: FOR j in 0:4: IF i * 64 + j * 16 + 15 < n: fast ELSE: slow
/// Where the test is the same in all iterations, it chooses between two such loops:
///   before:  FOR i in 0:m: FOR j in 0:4: IF b + j * 16 + 15 < n: fast ELSE: slow
///   after:   IF b + 63 < n: FOR i in 0:m: FOR j: fast
///            ELSE: FOR i in 0:m: FOR j: IF b + j * 16 + 15 < n: fast ELSE: slow
/// Compilers keep accumulators in registers in a loop without branches. Elsewhere each step stores
/// them, and loads of the next elements wait for such stores where the lowest 12 bits of both
/// addresses are equal.
/// The innermost of nested loops that is not written out is parted.
/// Requires: regions formed.
/// Ensures:  the same statements run in the same order. Kernels of GPUs stay as they are.
void part_whole_steps(Kernel& kernel);

} // namespace nvfuser
