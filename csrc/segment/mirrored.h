// Norms backward: a kernel that reduces rows and keeps them on chip can also sum over all rows what
// it computes for each element. Their patterns differ, so that they are two groups at first.
#pragma once

#include <optional>

#include "segment/group_graph.h"

namespace nvfuser::segment {

/// A group whose reductions keep what those of another one reduce, and the other way round.
struct MirroredPair {
  size_t rows = 0; // positions of groups
  size_t columns = 0;
};

/// Pairs of neighbors that may be joined: no other group has to run between them. `keeps_rows`: by
/// group, whether it reduces rows and keeps them on chip.
/// Cost: linear in expressions, and a search in the graph for each pair.
[[nodiscard]] std::vector<MirroredPair> find_mirrored_pairs(
    const Flow& flow,
    const Facts& facts,
    const std::vector<Group>& groups,
    const std::vector<bool>& keeps_rows);

} // namespace nvfuser::segment
