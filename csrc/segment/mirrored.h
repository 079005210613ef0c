// Norms backward: a kernel that reduces rows and keeps them on chip can also sum over all rows what
// it computes for each element. Their patterns differ, so that they are two groups at first.
#pragma once

#include "segment/joined.h"

namespace nvfuser::segment {

/// A group that reduces rows and keeps them on chip, and one beside it whose reductions keep what
/// those of the first reduce, and the other way round.
/// Cost: linear in expressions, and a search in the graph for each pair.
[[nodiscard]] FindPairs find_mirrored_pairs;

} // namespace nvfuser::segment
