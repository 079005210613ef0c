// Which tensors threads hand to each other.
#pragma once

#include <vector>

#include "ir/fusion.h"

namespace nvfuser::transform {

/// Tensors in registers that threads read which have not computed them: a loop of a reader, bound
/// to the threads of a block, runs over more than the tensor's own does.
///   t[i0, 1], not inlined -> y[i0, i1], both merged and bound to threadIdx.x
/// No inputs of the fusion. Cost: O(tensors * readers), and little where everything is inlined.
[[nodiscard]] std::vector<TensorView*> read_by_other_threads(Fusion& fusion);

} // namespace nvfuser::transform
