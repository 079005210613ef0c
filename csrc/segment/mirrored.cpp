#include "segment/mirrored.h"

#include <algorithm>

namespace nvfuser::segment {
namespace {

/// Groups that read what `group` reads or makes.
std::set<size_t> neighbors(const Flow& flow, const GroupGraph& graph, const Group& group) {
  std::set<size_t> found;
  const auto add_readers = [&](TensorId tensor) {
    const std::set<size_t>& readers = graph.readers(tensor);
    found.insert(readers.begin(), readers.end());
  };
  for (const ExprId id : group.exprs) {
    std::ranges::for_each(flow.expr(id).operands, add_readers);
  }
  std::ranges::for_each(group.outputs, add_readers);
  return found;
}

} // namespace

std::vector<GroupPair> find_mirrored_pairs(
    const Flow& flow,
    const Facts& facts,
    const std::vector<Group>& groups,
    const GroupGraph& graph,
    const std::vector<bool>& keeps_rows) {
  std::vector<GroupPair> pairs;
  for (size_t rows = 0; rows < groups.size(); ++rows) {
    const int64_t pattern = keeps_rows[rows] ? pattern_of(facts, groups[rows]) : kNoPattern;
    if (pattern == kNoPattern) {
      continue;
    }
    const Pattern& axes = facts.patterns()[static_cast<size_t>(pattern)];
    for (const size_t columns : neighbors(flow, graph, groups[rows])) {
      const int64_t other = pattern_of(facts, groups[columns]);
      const bool is_mirrored =
          other != kNoPattern && !keeps_rows[columns] &&
          facts.patterns()[static_cast<size_t>(other)] == Pattern{axes.kept, axes.reduced};
      if (is_mirrored && graph.may_join(rows, columns)) {
        pairs.push_back({.first = rows, .second = columns});
      }
    }
  }
  return pairs;
}

} // namespace nvfuser::segment
