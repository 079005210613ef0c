#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Make conditions of the tests of statements, hoisted out of unswitched and unrolled loops.
///   before:  FOR i in US{4}: T2[4*tx + i] = ...             test: 4*tx + i < n
///   after:   IF 4*tx + 3 < n: FOR i: T2[..] = ...           fast path, no test per element
///            ELSE: FOR i: IF 4*tx + i < n: T2[..] = ...
/// The hoisted condition takes every test at the largest value its index can have inside the loop;
/// remainders count as reaching their modulus - 1. A loop that contains a barrier
/// keeps its tests per statement. Nested loops hoist once, at the outermost.
/// A loop whose results one thread (or block) alone stores runs there alone:
///   before:  FOR i: T4 = T4 + T1[i]     T2[0] = T4                owner of T2: tx == 0
///   after:   IF tx == 0: { FOR i: T4 = T4 + T1[i]; T2[0] = T4 }
/// Statements from registers or shared memory to registers that cannot trap run unconditionally:
/// what they compute for holes is never stored or reduced. A sum in registers tests whether there
/// is something to add. Whether there is a result to add it to, it tests only where that is decided
/// outside of the loops that add, or tested anyway by what stands next to it.
/// Requires: `kernel.tests`.
/// Ensures:  conditions stand in the tree; `kernel.tests` is not needed any more.
void place_conditions(Kernel& kernel);

} // namespace nvfuser
