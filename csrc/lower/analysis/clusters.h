// Clusters of blocks: neighbours along x, as many as an axis has elements whose blocks are
// clustered. They run at the same time and can reach each other's shared memory.
#pragma once

#include "lower/analysis/loop_model.h"

namespace nvfuser {

/// Whether the blocks along `loop` form a cluster.
[[nodiscard]] bool is_clustered(const Loop& loop);

/// Find how many blocks a cluster has (`kernel.launch.extents.cluster`); no fact: they form none.
/// Refuses sizes that are not known before the launch, or that the target has not.
/// Requires: the loop model.
[[nodiscard]] std::optional<Refusal> find_cluster_size(Kernel& kernel);

/// Blocks of a cluster; 1: blocks form none.
[[nodiscard]] int64_t cluster_size(const Kernel& kernel);

/// Position of this block in its cluster, and of its cluster along x.
[[nodiscard]] Val* block_of_cluster(Kernel& kernel);
[[nodiscard]] Val* cluster_index(Kernel& kernel);

} // namespace nvfuser
