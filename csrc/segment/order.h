// The order in which segments run, and which outputs they write into the memory of arguments.
#pragma once

#include <vector>

#include "graph/val_graph.h"
#include "segment/partition.h"

namespace nvfuser::segment {

struct RunOrder {
  std::vector<size_t> order; // positions of groups
  /// By group: outputs that it writes in place.
  std::vector<std::vector<TensorId>> updates;
  /// Outputs that are copied into an argument when all segments have run.
  std::vector<TensorId> late_updates;
};

/// An update is written in place if its group reads the argument at no other element than the one
/// that it writes, and if all other groups that read the argument can run before.
/// Cost: O(groups + edges), and the same for each update of what several groups read.
[[nodiscard]] RunOrder find_run_order(
    const Fusion& complete,
    const Flow& flow,
    const Facts& facts,
    const ValGraph& exact,
    const std::vector<Group>& groups);

} // namespace nvfuser::segment
