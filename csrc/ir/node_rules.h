// Rules about operands, results and attributes of one expression: ranks, positions of dimensions,
// sizes. Functions of `ops/` and `transform/` make nodes that keep these rules; nodes that are read
// from bytes are checked.
#pragma once

#include <string>

#include "ir/sampled_sizes.h"

namespace nvfuser {

/// The rule that the expression breaks; empty: none. Nodes of kernels have no rules here. Cost:
/// O(axes of operands and results).
[[nodiscard]] std::string find_broken_rule(const Expr& expr, SampledSizes& sizes);

} // namespace nvfuser
