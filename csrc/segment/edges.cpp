#include "segment/edges.h"

#include <algorithm>

#include "ir/all_nodes.h"

namespace nvfuser::segment {

std::optional<Reason> HardEdges::find(const Edge& edge) const {
  const ExprId made_by = flow_.tensor(edge.tensor).made_by;
  const ExprFacts& reader = facts_.expr(edge.reader);
  if (const auto found = added_.find(edge); found != added_.end()) {
    return found->second;
  }
  if (made_by == kNoExpr) {
    return std::nullopt;
  }
  if (facts_.expr(made_by).is_boundary) {
    return Reason{.rule = CutRule::Asked};
  }
  if (stands_alone(reader.role)) {
    return Reason{.rule = CutRule::Library, .other = flow_.result_of(edge.reader)};
  }
  if (stands_alone(facts_.expr(made_by).role)) {
    return Reason{.rule = CutRule::Library};
  }
  if (std::ranges::find(reader.looked_up, edge.tensor) != reader.looked_up.end()) {
    return Reason{.rule = CutRule::Lookup};
  }
  return std::nullopt;
}

namespace {

/// Views at the end of a flow: expressions whose results are outputs, or are read by such views
/// only.
class ViewTails {
 public:
  ViewTails(const Fusion& fusion, const Flow& flow, const Facts& facts)
      : flow_(flow), is_tail_(flow.exprs().size(), false) {
    for (ExprId id = flow.exprs().size(); id-- > 0;) {
      const FlowTensor& result = flow.tensor(flow.expr(id).results.front());
      const bool is_update = fusion.alias_of(result.tensor) != nullptr;
      const bool is_view = facts.expr(id).role == Role::View && !facts.expr(id).is_boundary;
      is_tail_[id] = is_view && !is_update && !result.tensor->has_allocation() &&
                     std::ranges::all_of(result.readers, [&](ExprId reader) {
                       return is_tail_[reader] && !flow.expr(reader).expr->is_a<ReshapeOp>();
                     });
    }
  }

  [[nodiscard]] bool is_tail(ExprId id) const {
    return is_tail_[id];
  }

  /// Outputs among the views of `tensor`, as far as they are tails.
  [[nodiscard]] size_t outputs_of(TensorId tensor) const {
    size_t found = 0;
    for (const ExprId reader : flow_.tensor(tensor).readers) {
      if (is_tail_[reader]) {
        const TensorId result = flow_.expr(reader).results.front();
        found += (flow_.tensor(result).is_output ? 1 : 0) + outputs_of(result);
      }
    }
    return found;
  }

 private:
  const Flow& flow_;
  std::vector<bool> is_tail_;
};

} // namespace

void add_edges_of_views(
    const Fusion& fusion, const Flow& flow, const Facts& facts, HardEdges& edges) {
  const ViewTails tails(fusion, flow, facts);
  for (TensorId id = 0; id < flow.tensors().size(); ++id) {
    const FlowTensor& base = flow.tensor(id);
    const bool is_computed = base.made_by != kNoExpr && !tails.is_tail(base.made_by) &&
                             !stands_alone(facts.expr(base.made_by).role);
    if (!is_computed || fusion.alias_of(base.tensor) != nullptr) {
      continue;
    }
    constexpr size_t kWorthIt = 2;
    const size_t outputs = tails.outputs_of(id) + (base.is_output ? 1 : 0);
    for (const ExprId reader : base.readers) {
      if (tails.is_tail(reader) && outputs >= kWorthIt) {
        edges.add({.tensor = id, .reader = reader}, {.rule = CutRule::View});
      }
    }
  }
}

} // namespace nvfuser::segment
