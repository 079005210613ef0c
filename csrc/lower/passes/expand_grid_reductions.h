#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// On a target that runs blocks in phases, write reductions over blocks out.
///   before:  T3 = GRIDREDUCE(T2, over blockIdx.x)
///   after:   work[blockIdx.x] = T2     GRIDSYNC     FOR j in gridDim.x: T3 = T3 + work[j]
/// The first block of a segment combines the partial results, in the order of blocks: the result
/// does not depend on how many workers there are. With `allreduce` it leaves it where the others
/// find it after one more GRIDSYNC; without, `is_last` says that only this block has it.
void expand_grid_reductions(Kernel& kernel, Scope& scope);

} // namespace nvfuser
