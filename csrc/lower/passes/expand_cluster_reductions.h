#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// On a target without hardware threads, write reductions over a cluster out.
///   before:  T5[0] = CLUSTERREDUCTION(T4[0], reduced_dims = x)
///   after:   T9[0] = BLOCKREDUCTION(T4[0], reduced_dims = x)
///            T10_s[block of cluster, thread] = T9[0]     CLUSTERSYNC
///            FOR i: T5[0] = T5[0] + T10_s[i, thread]     CLUSTERSYNC
/// T10 lies in the shared memory of the first block, which all blocks of the cluster reach.
/// A reduction of a maximum and a sum about it stores both; its second loop scales what it adds.
/// Requires: the scratch of the reductions placed; accumulators hold the identities before.
/// Returns the tensors like T10: a cluster has one of them, not one for each block.
std::unordered_set<const TensorView*> expand_cluster_reductions(Kernel& kernel, Scope& scope);

} // namespace nvfuser
