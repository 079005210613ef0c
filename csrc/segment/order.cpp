#include "segment/order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <unordered_set>

#include "graph/storage.h"
#include "schedule/common/kernel_rules.h"
#include "segment/group_graph.h"

namespace nvfuser::segment {
namespace {

class OrderSearch {
 public:
  OrderSearch(
      const Fusion& complete,
      const Flow& flow,
      const Facts& facts,
      const ValGraph& exact,
      const std::vector<Group>& groups)
      : complete_(complete),
        flow_(flow),
        facts_(facts),
        exact_(exact),
        groups_(groups),
        graph_(flow, groups) {
    result_.updates.resize(groups.size());
  }

  RunOrder find() {
    for (size_t group = 0; group < groups_.size(); ++group) {
      for (const TensorId output : groups_[group].outputs) {
        if (const AliasInfo* alias = complete_.alias_of(flow_.tensor(output).tensor)) {
          place_update(group, output, alias->input);
        }
      }
    }
    sort();
    return std::move(result_);
  }

 private:
  void place_update(size_t group, TensorId output, const TensorView* argument) {
    std::set<size_t> before = graph_.readers(number_of(argument));
    before.erase(group);
    const bool is_only_update = complete_.updates_of(argument).size() == 1;
    const bool can_wait =
        std::ranges::none_of(before, [&](size_t reader) { return graph_.leads_to(group, reader); });
    const bool has_each_element =
        schedule::find_expanded_axis(*flow_.tensor(output).tensor, *argument) == nullptr;
    if (!is_only_update || !can_wait || !has_each_element ||
        !may_overwrite(group, output, argument)) {
      result_.late_updates.push_back(output);
      return;
    }
    for (const size_t reader : before) {
      graph_.add_edge(reader, group);
    }
    result_.updates[group].push_back(output);
  }

  /// Arguments are the first tensors of a flow.
  [[nodiscard]] TensorId number_of(const TensorView* argument) const {
    TensorId id = 0;
    while (flow_.tensor(id).tensor != argument) {
      ++id;
    }
    return id;
  }

  /// Whether every element of the argument that the group reads is read by the iteration that
  /// writes it. Libraries write when they have read everything.
  [[nodiscard]] bool may_overwrite(
      size_t group, TensorId output, const TensorView* argument) const {
    std::unordered_set<TensorId> dependent;
    bool reads_same_elements = true;
    bool is_read = false;
    for (const ExprId id : groups_[group].exprs) {
      const FlowExpr& expr = flow_.expr(id);
      const bool depends = std::ranges::any_of(expr.operands, [&](TensorId operand) {
        return flow_.tensor(operand).tensor == argument || dependent.contains(operand);
      });
      if (!depends) {
        continue;
      }
      is_read = true;
      if (stands_alone(facts_.expr(id).role)) {
        return true;
      }
      dependent.insert(expr.results.begin(), expr.results.end());
      const bool is_same =
          (facts_.expr(id).role == Role::Map || facts_.expr(id).role == Role::View) &&
          facts_.expr(id).space == facts_.tensor(output).space;
      reads_same_elements = reads_same_elements && is_same && facts_.expr(id).looked_up.empty();
    }
    return !is_read || (reads_same_elements &&
                        updates_same_elements(exact_, flow_.tensor(output).tensor, argument));
  }

  /// Among groups that can run, the one that begins first in the flow runs next.
  void sort() {
    std::vector<size_t> waits_for(groups_.size(), 0);
    for (size_t group = 0; group < groups_.size(); ++group) {
      for (const size_t next : graph_.next(group)) {
        ++waits_for[next];
      }
    }
    using Ready = std::pair<ExprId, size_t>;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    const auto add = [&](size_t group) { ready.emplace(groups_[group].own.front(), group); };
    for (size_t group = 0; group < groups_.size(); ++group) {
      if (waits_for[group] == 0) {
        add(group);
      }
    }
    while (!ready.empty()) {
      const size_t group = ready.top().second;
      ready.pop();
      result_.order.push_back(group);
      for (const size_t next : graph_.next(group)) {
        if (--waits_for[next] == 0) {
          add(next);
        }
      }
    }
    NVF_INVARIANT(
        result_.order.size() == groups_.size(),
        "Failed to run any group; An error must have occured in segmentation.");
  }

  const Fusion& complete_;
  const Flow& flow_;
  const Facts& facts_;
  const ValGraph& exact_;
  const std::vector<Group>& groups_;
  GroupGraph graph_;
  RunOrder result_;
};

} // namespace

RunOrder find_run_order(
    const Fusion& complete,
    const Flow& flow,
    const Facts& facts,
    const ValGraph& exact,
    const std::vector<Group>& groups) {
  return OrderSearch(complete, flow, facts, exact, groups).find();
}

} // namespace nvfuser::segment
