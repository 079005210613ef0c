#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Test once what several statements, or all iterations of a loop, test.
///   before:  FOR k: { IF i < m && k < n: T2 = T0[..]      T3 = T2 * T2
///                     IF i < m && k < n: T4 = T4 + T3 }
///   after:   IF i < m: FOR k: IF k < n: { T2 = T0[..]     T3 = T2 * T2     T4 = T4 + T3 }
/// - Neighbours with the same condition become one; what stands in between and touches registers
///   only moves out of the way.
/// - A statement whose registers one branch alone reads moves into the branch: a factor to the sum
///   that takes it, results of a reduction over blocks to the store of the last block.
/// - A term that all of a loop's lasting statements test, and that is the same in every iteration,
///   moves out of the loop; one that both paths of a condition test, out of the paths.
/// - A term that holds anyway, by another term or a condition around, is dropped.
/// Barriers, and what waits for other threads, stay where they are, and under the same conditions.
/// Terms that read tensors, or divide by what may be 0, are neither moved nor dropped.
/// Requires: conditions placed.
/// Ensures:  the same statements run in the same order, as far as memory and registers that
///           something reads can tell. Loops over hardware indices are gone: their bodies take
///           their place.
void merge_conditions(Kernel& kernel);

} // namespace nvfuser
