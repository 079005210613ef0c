// Equality of fusions that were not built by the same steps. (`Fusion::==` is stricter.)
#pragma once

#include "ir/fwd.h"

namespace nvfuser {

/// As `a == b`, but statements may have other numbers, and constants and computed scalars of one
/// meaning may be one or several values: what a fusion keeps when its definition is written anew.
[[nodiscard]] bool equal_up_to_numbering(const Fusion& a, const Fusion& b);

} // namespace nvfuser
