#include "segment/mirrored.h"

#include <algorithm>
#include <iterator>

namespace nvfuser::segment {
namespace {

int64_t pattern_of(const Facts& facts, const Group& group) {
  for (const ExprId id : group.exprs) {
    if (facts.expr(id).pattern != kNoPattern) {
      return facts.expr(id).pattern;
    }
  }
  return kNoPattern;
}

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

std::vector<size_t> united(const std::vector<size_t>& a, const std::vector<size_t>& b) {
  std::vector<size_t> both;
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

} // namespace

std::vector<MirroredPair> find_mirrored_pairs(
    const Flow& flow,
    const Facts& facts,
    const std::vector<Group>& groups,
    const std::vector<bool>& keeps_rows) {
  const GroupGraph graph(flow, groups);
  std::vector<MirroredPair> pairs;
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
        pairs.push_back({.rows = rows, .columns = columns});
      }
    }
  }
  return pairs;
}

Group joined(const Flow& flow, const std::vector<Group>& groups, const MirroredPair& pair) {
  const Group& rows = groups[pair.rows];
  const Group& columns = groups[pair.columns];
  Group both{.exprs = united(rows.exprs, columns.exprs), .own = united(rows.own, columns.own)};
  const GroupGraph graph(flow, groups);
  for (const TensorId output : united(rows.outputs, columns.outputs)) {
    const std::set<size_t>& readers = graph.readers(output);
    const bool is_read = std::ranges::any_of(
        readers, [&](size_t group) { return group != pair.rows && group != pair.columns; });
    if (is_read || flow.tensor(output).is_output) {
      both.outputs.push_back(output);
    }
  }
  return both;
}

} // namespace nvfuser::segment
