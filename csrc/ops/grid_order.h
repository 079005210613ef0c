// Operations that say when grids of one stream begin: programmatic dependent launch, by hand.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// A copy of the first tensor, which the grid before this one in the stream may have written. The
/// kernel may begin while that grid runs, and waits for it before it touches global memory. The
/// other tensors, or what they are loaded from, are older than the prior grid: they may be loaded
/// before the wait.
TensorView* wait_for_prior_grid(const std::vector<TensorView*>& inputs);
/// A copy of the first tensor. When all blocks have computed it and the other tensors, a grid that
/// waits for this one may begin.
TensorView* launch_dependent_grid(const std::vector<TensorView*>& inputs);

} // namespace nvfuser::ops
