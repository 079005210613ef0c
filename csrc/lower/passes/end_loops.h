#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Let a loop of a block end with the last iteration that leaves something behind, instead of
/// testing in each iteration whether there is something to do.
///   before:  FOR i in 0:ceilDiv(n, 8): { T4 = ..; IF bx + i * 8 < n: T2[bx + i * 8] = T4 }
///   after:   FOR i in 0:ceilDiv(max(n - bx, 0), 8): { T4 = ..; T2[bx + i * 8] = T4 }
/// All threads of a block come to the same end: the loop may hold barriers of the block.
/// Requires: conditions placed; loops that are bound to hardware still stand in the tree.
/// Ensures:  what is printed for other loops, and the order of statements, stay as they are.
/// Cost:     O(statements * (depth of loops + tests in a loop)).
void end_loops(Kernel& kernel);

} // namespace nvfuser
