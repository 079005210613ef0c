#include "segment/group_graph.h"

#include <algorithm>
#include <unordered_set>

namespace nvfuser::segment {

GroupGraph::GroupGraph(const Flow& flow, const std::vector<Group>& groups) : next_(groups.size()) {
  std::unordered_map<TensorId, size_t> made_in; // only looked up
  for (size_t group = 0; group < groups.size(); ++group) {
    for (const TensorId output : groups[group].outputs) {
      made_in.emplace(output, group);
    }
  }
  for (size_t group = 0; group < groups.size(); ++group) {
    std::unordered_set<TensorId> made;
    for (const ExprId id : groups[group].exprs) {
      for (const TensorId operand : flow.expr(id).operands) {
        if (made.contains(operand)) {
          continue;
        }
        readers_[operand].insert(group);
        if (flow.tensor(operand).made_by != kNoExpr) {
          next_[made_in.at(operand)].insert(group);
        }
      }
      made.insert(flow.expr(id).results.begin(), flow.expr(id).results.end());
    }
  }
}

const std::set<size_t>& GroupGraph::readers(TensorId tensor) const {
  static const std::set<size_t> none;
  const auto found = readers_.find(tensor);
  return found == readers_.end() ? none : found->second;
}

bool GroupGraph::leads_to(size_t from, size_t to) const {
  std::unordered_set<size_t> seen{from};
  std::vector<size_t> pending{from};
  while (!pending.empty()) {
    const size_t group = pending.back();
    pending.pop_back();
    if (group == to) {
      return true;
    }
    for (const size_t next : next_[group]) {
      if (seen.insert(next).second) {
        pending.push_back(next);
      }
    }
  }
  return false;
}

std::set<size_t> GroupGraph::between(const std::set<size_t>& ends) const {
  std::set<size_t> found = ends;
  for (size_t group = 0; group < next_.size(); ++group) {
    const bool is_behind =
        std::ranges::any_of(ends, [&](size_t end) { return leads_to(end, group); });
    if (is_behind && std::ranges::any_of(ends, [&](size_t end) { return leads_to(group, end); })) {
      found.insert(group);
    }
  }
  return found;
}

bool GroupGraph::has_way_around(size_t from, size_t to) const {
  return std::ranges::any_of(
      next_[from], [&](size_t next) { return next != to && leads_to(next, to); });
}

bool GroupGraph::may_join(size_t a, size_t b) const {
  return !has_way_around(a, b) && !has_way_around(b, a);
}

} // namespace nvfuser::segment
