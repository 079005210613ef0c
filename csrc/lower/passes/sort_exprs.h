#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Order the tensor expressions so that definitions precede uses and expressions that share a loop
/// stand next to each other at every depth.
///   before:  a = set(x)   d = set(y)   t = neg(a)   u = neg(d)      a inlined into t
///   after:   a = set(x)   t = neg(a)   d = set(y)   u = neg(d)
/// Requires: the loop model.
/// Ensures:  `kernel.sorted_exprs`; components in the order of the outputs they lead to.
/// Cost:     O(n log n) per loop depth.
std::optional<Refusal> sort_exprs(Kernel& kernel);

} // namespace nvfuser
