// Kernels that are made for some sizes of a run: no index is divided by such a size, nothing is
// tested along such an axis, and vectors run on behind its end. Params say which sizes, so that
// runs with other ones get other kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/fusion.h"

namespace nvfuser::schedule {

/// Whether a kernel may be made for one size of the axis: it is a number already, or only stands
/// for the size of an input.
[[nodiscard]] bool may_be_fixed(const IterDomain* axis);

/// Let axes of the fusion have the sizes that are given for them; 0: any. Less than one size for
/// each: the others are any. Throws UserError for a size that cannot be fixed.
void fix_sizes(Fusion& fusion, const IterDomains& axes, const std::vector<int64_t>& sizes);

} // namespace nvfuser::schedule
