#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Let every reduction accumulate in registers.
///   before:  T1_g[i0, r1] = sum(T0)          (an output, or shared memory)
///   after:   T2_l[i0, r1] = sum(T0)    T1_g[i0] = T2_l
/// Sums, products and Welfords of a narrow type accumulate in Float, Welfords of Float in Double
/// where that costs little; those of Float in Double where they combine partial results that are
/// stored. Partial results stay as wide, in memory as well; the result is rounded once. The
/// registers are inlined into the copy as deep as its loops go. Results of the same reduction that
/// nothing reads have as many elements as those that are read.
void reduce_in_registers(Kernel& kernel);

} // namespace nvfuser
