// Joining groups that were cut apart, where a scheduler takes both.
#pragma once

#include <set>
#include <vector>

#include "segment/facts.h"
#include "segment/group_graph.h"

namespace nvfuser::segment {

/// The pattern of its reductions; kNoPattern: it has none.
[[nodiscard]] int64_t pattern_of(const Facts& facts, const Group& group);

/// Positions of groups that may be joined: no other group has to run between them.
struct GroupPair {
  size_t first = 0;
  size_t second = 0;
};
/// Finds pairs among `groups`, which `graph` is of. `is_candidate`: by group, whether its scheduler
/// is one that pairs begin with.
using FindPairs = std::vector<GroupPair>(
    const Flow& flow,
    const Facts& facts,
    const std::vector<Group>& groups,
    const GroupGraph& graph,
    const std::vector<bool>& is_candidate);

/// Several groups, by position, as one. Cost: linear in them.
[[nodiscard]] Group joined(
    const Flow& flow,
    const std::vector<Group>& groups,
    const GroupGraph& graph,
    const std::set<size_t>& members);

/// Groups that reduce the same axes, of which the second one reads results of the first. Means and
/// variances are such groups, which `reduction` computes in one pass.
/// Cost: linear in expressions, and a search in the graph for each pair.
[[nodiscard]] FindPairs find_chained_pairs;

/// Groups that reduce the same axes of a tensor that both read and neither makes, so that one
/// kernel reads it once. Results of an earlier group may stand between them.
/// Cost: linear in expressions, and a search in the graph for each pair.
[[nodiscard]] FindPairs find_sibling_pairs;

} // namespace nvfuser::segment
