// Sums of sizes in which opposite terms cancel.
#pragma once

#include <vector>

#include "ir/fwd.h"

namespace nvfuser::scalar {

/// The sum of `summands` (dtype Index, at least one). Sums and differences among them are taken
/// apart, and opposite terms cancel: n, -start and stop - n are stop - start. Positive terms come
/// first, in the order of the text, then negative ones, then the constant. nullptr if the constant
/// does not fit in 64 bits.
/// Cost: near-linear in the terms; no recursion, because sums of many sizes are deep.
[[nodiscard]] Val* cancelling_sum(const std::vector<Val*>& summands);

} // namespace nvfuser::scalar
