#include "segment/products.h"

#include <algorithm>

#include "schedule/common/kernel_rules.h"

namespace nvfuser::segment {
namespace {

bool is_product(const Flow& flow, const Group& group) {
  return group.exprs.size() == 1 && schedule::is_product(flow.expr(group.exprs.front()).expr);
}

bool is_library(const Facts& facts, const Group& group) {
  return std::ranges::any_of(
      group.exprs, [&](ExprId id) { return stands_alone(facts.expr(id).role); });
}

} // namespace

std::vector<GroupPair> find_product_pairs(
    const Flow& flow,
    const Facts& facts,
    const std::vector<Group>& groups,
    const GroupGraph& graph,
    const std::vector<bool>& is_evaluated) {
  std::vector<GroupPair> pairs;
  for (size_t first = 0; first < groups.size(); ++first) {
    if (!is_evaluated[first] || !is_product(flow, groups[first])) {
      continue;
    }
    for (const size_t second : graph.next(first)) {
      if (!is_library(facts, groups[second]) && graph.may_join(first, second)) {
        pairs.push_back({.first = first, .second = second});
      }
    }
  }
  return pairs;
}

} // namespace nvfuser::segment
