// The order of a fusion that has no history.
//
// Two scripts that make the same scheduled fusion may do so in different orders, with detours, or
// beside things that are not needed. The order of definition is that of one script: inputs as they
// are registered, then the math, then what steps of the schedule made (transform/graph_steps.h).
// Where a script was written this way it is the order of creation. A fusion and the one that its
// printed schedule makes have the same order.
#pragma once

#include <vector>

#include "ir/fusion.h"

namespace nvfuser {

/// Bring what leads to outputs into the order of definition: `Fusion::tensors`, `Fusion::exprs` and
/// the uses of values follow it. Numbers in names stay.
/// Requires: statements are ordered by their creation; so, once for a fusion.
/// Returns the tensors in their new order.
std::vector<TensorView*> put_in_order_of_definition(Fusion& fusion);

} // namespace nvfuser
