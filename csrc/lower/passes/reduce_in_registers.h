#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Let every reduction accumulate in registers.
///   before:  T1_g[i0, r1] = sum(T0)          (an output, or shared memory)
///   after:   T2_l[i0, r1] = sum(T0)    T1_g[i0] = T2_l
/// Those of a Welford of a narrow type are Float; its results are rounded once.
/// The registers are inlined into the copy as deep as its loops go; results of the same reduction
/// that nothing reads are, too.
void reduce_in_registers(Kernel& kernel);

} // namespace nvfuser
