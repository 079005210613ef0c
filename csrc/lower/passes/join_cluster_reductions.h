#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Make one exchange of two: of a maximum over a cluster, and of the sum of exponentials about it.
///   before:  T2[0] = CLUSTERREDUCTION(T9[0], op = max)
///            for i: T4[0] = T1[i] - T2[0]   T5[0] = exp(T4[0])   T8[0] = T8[0] + T5[0]
///            T6[0] = CLUSTERREDUCTION(T8[0], op = add)
///   after:   T11[0] = T9[0] == -inf ? 0 : T9[0]
///            for i: T4[0] = T1[i] - T11[0]  T5[0] = exp(T4[0])   T8[0] = T8[0] + T5[0]
///            T2[0], T6[0] = CLUSTERREDUCTION(T9[0], T8[0], op = {max, add} about the maximum)
/// Each thread has its sum about its own maximum. A thread that has nothing but -inf sums about 0,
/// so its sum is 0, and no NaN that others would get.
/// Requires: nothing but the sum reads these exponentials; a thread adds up the elements that it
/// found its maximum among. Else nothing changes.
/// Returns whether anything changed.
bool join_cluster_reductions(Kernel& kernel);

} // namespace nvfuser
