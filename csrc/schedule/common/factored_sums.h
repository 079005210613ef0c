// Sums that need not wait for others: a factor that is alike for all elements of a sum is
// multiplied after it.
//
//   T2 = sum(T0 * T0, [1])   T3 = broadcast(rsqrt(T2))   T4 = T0 * T3   T5 = sum(T1 * T4, [1])
//
// T5 waits for T2. But T5 = sum(T1 * T0) * rsqrt(T2), and both sums can be reduced together, with
// the barriers of one.
#pragma once

#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule {

/// Take factors out of the sums of the problem that wait for less without them. Nothing is
/// scheduled yet. Returns whether the fusion was edited: the summary then describes it no more.
/// Only in Float and Double: in 16 bits, products without the factor may be out of range.
/// Cost: O(exprs).
[[nodiscard]] bool take_factors_out_of_sums(FusionSummary& summary);

} // namespace nvfuser::schedule
