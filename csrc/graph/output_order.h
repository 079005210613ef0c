// An order of expressions that does not depend on the order in which they were made: from the first
// output back through its operands, then from the next one. Decisions in this order are the same
// for two definitions that compute the same.
#pragma once

#include <vector>

#include "ir/fusion.h"

namespace nvfuser {

/// The expressions on tensors that lead to an output, operands before results.
/// Cost: linear; no recursion.
[[nodiscard]] std::vector<Expr*> exprs_from_outputs(const Fusion& fusion);

} // namespace nvfuser
