#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Fences before products of warpgroups, groups of them, and waits behind them.
void wait_for_products(Kernel& kernel);

} // namespace nvfuser
