#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Mark loops that address register arrays as unrolled: a register has no run-time index.
void unroll_register_loops(Kernel& kernel);

/// Refuse tensors in registers whose size is not constant.
void check_register_arrays(Kernel& kernel);

} // namespace nvfuser
