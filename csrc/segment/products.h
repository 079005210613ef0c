// Products of matrices with what follows them: a library multiplies, so that they are two groups at
// first.
#pragma once

#include "segment/joined.h"

namespace nvfuser::segment {

/// A group that is a product of matrices, and a group of kernels that reads its result.
/// Cost: linear in expressions, and a search in the graph for each pair.
[[nodiscard]] FindPairs find_product_pairs;

} // namespace nvfuser::segment
