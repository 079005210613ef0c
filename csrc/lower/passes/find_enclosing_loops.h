#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Find outputs that are stored in a loop over an axis of another tensor: inlined into one that
/// broadcasts them, they are stored again in every iteration, and never where there is none.
/// Broadcasts that are computed in such a loop and read outside of it are found as well.
/// Ensures: a condition of the launch, which knows the sizes.
void find_enclosing_loops(Kernel& kernel);

} // namespace nvfuser
