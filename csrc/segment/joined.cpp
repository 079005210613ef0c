#include "segment/joined.h"

#include <algorithm>
#include <iterator>

namespace nvfuser::segment {
namespace {

std::vector<size_t> united(const std::vector<size_t>& a, const std::vector<size_t>& b) {
  std::vector<size_t> both;
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

std::set<TensorId> operands_of(const Flow& flow, const Group& group) {
  std::set<TensorId> operands;
  for (const ExprId id : group.exprs) {
    operands.insert(flow.expr(id).operands.begin(), flow.expr(id).operands.end());
  }
  return operands;
}

} // namespace

int64_t pattern_of(const Facts& facts, const Group& group) {
  for (const ExprId id : group.exprs) {
    if (facts.expr(id).pattern != kNoPattern) {
      return facts.expr(id).pattern;
    }
  }
  return kNoPattern;
}

Group joined(
    const Flow& flow,
    const std::vector<Group>& groups,
    const GroupGraph& graph,
    const std::set<size_t>& members) {
  Group all;
  std::vector<TensorId> outputs;
  for (const size_t member : members) {
    all.exprs = united(all.exprs, groups[member].exprs);
    all.own = united(all.own, groups[member].own);
    outputs = united(outputs, groups[member].outputs);
  }
  for (const TensorId output : outputs) {
    const bool is_read_elsewhere = std::ranges::any_of(
        graph.readers(output), [&](size_t group) { return !members.contains(group); });
    if (is_read_elsewhere || flow.tensor(output).is_output) {
      all.outputs.push_back(output);
    }
  }
  return all;
}

std::vector<GroupPair> find_chained_pairs(
    const Flow& /*flow*/,
    const Facts& facts,
    const std::vector<Group>& groups,
    const GroupGraph& graph,
    const std::vector<bool>& reduces) {
  std::vector<GroupPair> pairs;
  for (size_t first = 0; first < groups.size(); ++first) {
    const int64_t pattern = reduces[first] ? pattern_of(facts, groups[first]) : kNoPattern;
    if (pattern == kNoPattern) {
      continue;
    }
    for (const size_t second : graph.next(first)) {
      if (reduces[second] && pattern_of(facts, groups[second]) == pattern &&
          graph.may_join(first, second)) {
        pairs.push_back({.first = first, .second = second});
      }
    }
  }
  return pairs;
}

std::vector<GroupPair> find_sibling_pairs(
    const Flow& flow,
    const Facts& facts,
    const std::vector<Group>& groups,
    const GroupGraph& graph,
    const std::vector<bool>& reduces) {
  std::set<std::pair<size_t, size_t>> found; // in order
  for (size_t group = 0; group < groups.size(); ++group) {
    const int64_t pattern = reduces[group] ? pattern_of(facts, groups[group]) : kNoPattern;
    if (pattern == kNoPattern) {
      continue;
    }
    for (const TensorId operand : operands_of(flow, groups[group])) {
      const std::set<size_t>& readers = graph.readers(operand);
      if (!readers.contains(group) ||
          facts.tensor(operand).space != facts.space_of_pattern(pattern)) {
        continue;
      }
      for (const size_t other : readers) {
        if (other > group && reduces[other] && pattern_of(facts, groups[other]) == pattern &&
            graph.may_join(group, other)) {
          found.emplace(group, other);
        }
      }
    }
  }
  std::vector<GroupPair> pairs;
  for (const auto& [first, second] : found) {
    pairs.push_back({.first = first, .second = second});
  }
  return pairs;
}

} // namespace nvfuser::segment
