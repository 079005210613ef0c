// What operands, results and attributes of one expression have to do with each other: ranks,
// positions of dimensions, sizes. Functions of `ops/` and `transform/` make nodes that keep these
// rules; what is read from bytes is checked.
#pragma once

#include <string>

#include "ir/sampled_sizes.h"

namespace nvfuser {

/// The rule that the expression breaks; empty: none. Nodes of kernels have no rules here. Cost:
/// O(axes of operands and results).
[[nodiscard]] std::string find_broken_rule(const Expr& expr, SampledSizes& sizes);

} // namespace nvfuser
