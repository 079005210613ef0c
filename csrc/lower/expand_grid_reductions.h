#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// On a target that runs blocks in phases, write reductions over blocks out.
///   before:  T3 = GRIDREDUCE(T2, over blockIdx.x)
///   after:   work[blockIdx.x] = T2     GRIDSYNC     FOR j in gridDim.x: T3 = T3 + work[j]
/// The partial results are combined in the order of blocks, so the result does not depend on how
/// many workers there are. Without `allreduce`, the first block of a segment combines, and
/// `is_last` says so.
void expand_grid_reductions(Kernel& kernel, Scope& scope);

} // namespace nvfuser
