// Joining groups that were cut apart, where a scheduler takes both.
#pragma once

#include <vector>

#include "segment/facts.h"
#include "segment/group_graph.h"

namespace nvfuser::segment {

/// The pattern of its reductions; kNoPattern: it has none.
[[nodiscard]] int64_t pattern_of(const Facts& facts, const Group& group);

/// Both groups as one. `groups`: all of them.
[[nodiscard]] Group joined(
    const Flow& flow, const std::vector<Group>& groups, size_t one, size_t other);

/// Positions of groups that reduce the same axes, of which the second one reads results of the
/// first, and that may be joined: no other group has to run between them. Means and variances are
/// such groups, which `reduction` computes in one pass.
struct ChainedPair {
  size_t first = 0;
  size_t second = 0;
};
/// `reduces`: by group, whether its results are those of reductions.
/// Cost: linear in expressions, and a search in the graph for each pair.
[[nodiscard]] std::vector<ChainedPair> find_chained_pairs(
    const Flow& flow,
    const Facts& facts,
    const std::vector<Group>& groups,
    const std::vector<bool>& reduces);

} // namespace nvfuser::segment
