// Division that rounds down, as `//` in Python and `floor_divide` in PyTorch.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// floor(a / b). Integers stay integers; the quotient of floats is exact even where a / b rounds up
/// to an integer. Sizes by positive constants are one `div`: they have no sign to look at.
Val* floor_divide(Val* a, Val* b);

} // namespace nvfuser::ops
