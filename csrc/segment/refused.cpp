#include "segment/refused.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/all_nodes.h"
#include "schedule/common/distinct_axes.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::segment {
namespace {

class CutSearch {
 public:
  CutSearch(const Flow& flow, const Facts& facts, const ValGraph& exact, const Group& group)
      : flow_(flow), facts_(facts), exact_(exact), group_(group) {
    members_.insert(group.exprs.begin(), group.exprs.end());
  }

  /// A tensor meets its own transpose or reshape: the second view of it gets memory of its own.
  Reasons at_second_views() const {
    Reasons cuts;
    for_each_edge([&](const Edge& edge, ExprId made_by) {
      const TensorView* view = flow_.tensor(edge.tensor).tensor;
      const bool is_other_view = facts_.expr(made_by).role == Role::View && view->has_root();
      if (is_other_view && flow_.expr(edge.reader).operands.size() > 1) {
        cuts.emplace(edge, Reason{.rule = CutRule::Itself});
      }
    });
    return cuts;
  }

  /// Outputs that are reshapes are views of what is computed.
  Reasons before_last_reshapes() const {
    Reasons cuts;
    for_each_edge([&](const Edge& edge, ExprId made_by) {
      const FlowExpr& reader = flow_.expr(edge.reader);
      const bool is_read_here = std::ranges::any_of(
          flow_.tensor(reader.results.front()).readers,
          [&](ExprId id) { return members_.contains(id); });
      const bool is_last = reader.expr->is_a<ReshapeOp>() && !is_read_here &&
                           !flow_.result_of(edge.reader)->has_allocation();
      if (is_last && facts_.expr(made_by).role != Role::View) {
        cuts.emplace(edge, Reason{.rule = CutRule::View});
      }
    });
    return cuts;
  }

  /// Readers of elements that also meet their reduction are computed apart from it.
  Reasons behind_statistics() const {
    Reasons cuts;
    const std::unordered_set<ExprId> dependent = dependents_of(Role::Reduction);
    for_each_edge([&](const Edge& edge, ExprId made_by) {
      const Space& read = facts_.tensor(edge.tensor).space;
      const ExprFacts& reader = facts_.expr(edge.reader);
      const bool is_wider = read.size() < reader.space.size() && reader.role != Role::Reduction;
      if (dependent.contains(made_by) && is_wider) {
        cuts.emplace(edge, Reason{.rule = CutRule::OnChip});
      }
    });
    return cuts;
  }

  /// The loops over the elements of the first reduction compute what has axes of theirs. Tensors
  /// with others, and reductions of another kind, are computed apart, with all that reads them.
  Reasons around_first_reduction() const {
    Reasons cuts;
    const auto first = std::ranges::find_if(
        group_.exprs, [&](ExprId id) { return facts_.expr(id).role == Role::Reduction; });
    if (first == group_.exprs.end()) {
      return cuts;
    }
    const TensorView* reduced = flow_.tensor(flow_.expr(*first).operands.front()).tensor;
    const schedule::AxisClasses covered = schedule::sources_of(exact_, reduced->logical());
    const std::unordered_set<ExprId> apart = with_what_only_they_read(
        dependents_of([&](ExprId id) {
          return facts_.expr(id).role == Role::Reduction
                     ? !are_alike(*first, id)
                     : !has_only_axes_of(covered, flow_.result_of(id));
        }),
        Role::Reduction);
    for_each_edge([&](const Edge& edge, ExprId made_by) {
      if (!apart.contains(made_by) && apart.contains(edge.reader)) {
        cuts.emplace(edge, Reason{.rule = CutRule::Space, .other = flow_.result_of(*first)});
      }
    });
    return cuts;
  }

  /// A single value that is read off an axis of size 1 is a view of what is computed.
  Reasons before_values() const {
    Reasons cuts;
    for_each_edge([&](const Edge& edge, ExprId /*made_by*/) {
      if (flow_.expr(edge.reader).expr->is_a<SqueezeOp>() &&
          flow_.result_of(edge.reader)->logical().empty()) {
        cuts.emplace(edge, Reason{.rule = CutRule::View});
      }
    });
    return cuts;
  }

  /// The last resort: each reduction stands alone.
  Reasons before_reductions() const {
    Reasons cuts;
    for_each_edge([&](const Edge& edge, ExprId /*made_by*/) {
      if (facts_.expr(edge.reader).role == Role::Reduction) {
        cuts.emplace(edge, Reason{.rule = CutRule::Unsuitable});
      }
    });
    return cuts;
  }

  /// Reductions end a kernel.
  Reasons behind_reductions() const {
    Reasons cuts;
    for_each_edge([&](const Edge& edge, ExprId made_by) {
      if (facts_.expr(made_by).role == Role::Reduction) {
        cuts.emplace(edge, Reason{.rule = CutRule::Unsuitable});
      }
    });
    return cuts;
  }

  /// Slices, pads and concatenations apart from reductions: those that come first, with what is
  /// computed from them until fewest bytes cross. A rotation and the norm of its result are two.
  Reasons between_resizes_and_reductions() const {
    const std::unordered_set<ExprId> behind_reductions = dependents_of(Role::Reduction);
    const auto first_resize = std::ranges::find_if(group_.exprs, [&](ExprId id) {
      return facts_.expr(id).role == Role::Resize && !behind_reductions.contains(id);
    });
    const bool are_resizes_first = first_resize != group_.exprs.end();
    const Role first = are_resizes_first ? Role::Resize : Role::Reduction;
    const std::unordered_set<ExprId> later = with_what_only_they_read(
        are_resizes_first ? behind_reductions : dependents_of(Role::Resize), first);
    Reasons cuts;
    for_each_edge([&](const Edge& edge, ExprId made_by) {
      if (!later.contains(made_by) && later.contains(edge.reader)) {
        cuts.emplace(edge, Reason{.rule = CutRule::Unsuitable});
      }
    });
    return cuts;
  }

  /// Expressions of `role` stand apart from the rest: slices, pads and concatenations, or scans.
  Reasons around(Role role) const {
    Reasons cuts;
    for_each_edge([&](const Edge& edge, ExprId made_by) {
      const bool is_before = facts_.expr(made_by).role == role;
      const bool is_behind = facts_.expr(edge.reader).role == role;
      if (is_before != is_behind) {
        cuts.emplace(edge, Reason{.rule = CutRule::Unsuitable});
      }
    });
    return cuts;
  }

  /// Operands of slices and pads lie in memory. A concatenation stays with the pads that say where
  /// each part begins.
  Reasons before_resizes() const {
    Reasons cuts;
    for_each_edge([&](const Edge& edge, ExprId /*made_by*/) {
      const bool is_cat = flow_.expr(edge.reader).expr->is_a<CatOp>();
      if (facts_.expr(edge.reader).role == Role::Resize && !is_cat) {
        cuts.emplace(edge, Reason{.rule = CutRule::Lookup});
      }
    });
    return cuts;
  }

  /// The output with most axes keeps what its loops can compute; the rest is computed apart.
  Reasons around_reference() const {
    Reasons cuts;
    const TensorView* widest = widest_output();
    if (widest == nullptr) {
      return cuts;
    }
    const schedule::AxisClasses covered = schedule::sources_of(exact_, widest->logical());
    std::unordered_map<ExprId, bool> is_covered;
    for (const ExprId id : group_.exprs) {
      is_covered.emplace(id, has_only_axes_of(covered, flow_.result_of(id)));
    }
    for_each_edge([&](const Edge& edge, ExprId made_by) {
      if (is_covered.at(made_by) != is_covered.at(edge.reader)) {
        cuts.emplace(
            edge, Reason{.rule = CutRule::Reshape, .other = const_cast<TensorView*>(widest)});
      }
    });
    return cuts;
  }

  /// Outputs that lack axes of the widest one are computed apart, with what leads to them.
  Reasons between_shapes() const {
    Reasons cuts;
    const TensorView* widest = widest_output();
    const size_t most = widest == nullptr ? 0 : schedule::concrete_axes(widest).size();
    const std::unordered_map<ExprId, TensorView*> leads_to = leads_to_output_below(most);
    for_each_edge([&](const Edge& edge, ExprId made_by) {
      const auto small = leads_to.find(made_by);
      if (small != leads_to.end() && !leads_to.contains(edge.reader)) {
        cuts.emplace(edge, Reason{.rule = CutRule::Shapes, .other = small->second});
      }
    });
    return cuts;
  }

  /// The last resort where nothing is reduced: what the widest output needs is one kernel, and the
  /// rest another one. Here axes are unrelated that are one axis in another segment.
  Reasons behind_widest_output() const {
    Reasons cuts;
    const TensorView* widest = widest_output();
    std::unordered_set<ExprId> needed;
    for (size_t i = group_.exprs.size(); i-- > 0;) {
      const ExprId id = group_.exprs[i];
      const bool is_needed = std::ranges::any_of(flow_.expr(id).results, [&](TensorId result) {
        return flow_.tensor(result).tensor == widest ||
               std::ranges::any_of(flow_.tensor(result).readers, [&](ExprId reader) {
                 return needed.contains(reader);
               });
      });
      if (is_needed) {
        needed.insert(id);
      }
    }
    for_each_edge([&](const Edge& edge, ExprId made_by) {
      if (needed.contains(made_by) && !needed.contains(edge.reader)) {
        cuts.emplace(
            edge, Reason{.rule = CutRule::Space, .other = const_cast<TensorView*>(widest)});
      }
    });
    return cuts;
  }

  [[nodiscard]] bool has(Role role) const {
    return std::ranges::any_of(
        group_.exprs, [&](ExprId id) { return facts_.expr(id).role == role; });
  }

 private:
  /// Edges between members: what is read, and the expression that makes it.
  template <typename Fn>
  void for_each_edge(const Fn& fn) const {
    for (const ExprId id : group_.exprs) {
      for (const TensorId operand : flow_.expr(id).operands) {
        const ExprId made_by = flow_.tensor(operand).made_by;
        if (made_by != kNoExpr && members_.contains(made_by)) {
          fn(Edge{.tensor = operand, .reader = id}, made_by);
        }
      }
    }
  }

  [[nodiscard]] bool has_only_axes_of(
      const schedule::AxisClasses& covered, const TensorView* tensor) const {
    const IterDomains axes = schedule::concrete_axes(tensor);
    return std::ranges::all_of(
        axes, [&](const IterDomain* axis) { return covered.contains(exact_.group(axis)); });
  }

  /// Axes of size 1 that a tensor has, as classes.
  [[nodiscard]] std::set<int64_t> broadcasts_of(const TensorView* tensor) const {
    std::set<int64_t> classes;
    for (const IterDomain* axis : tensor->logical()) {
      if (axis->is_broadcast()) {
        classes.insert(exact_.group(axis));
      }
    }
    return classes;
  }

  /// Whether one kernel can hold two reductions.
  [[nodiscard]] bool are_alike(ExprId a, ExprId b) const {
    return facts_.expr(a).pattern == facts_.expr(b).pattern &&
           broadcasts_of(flow_.result_of(a)) == broadcasts_of(flow_.result_of(b));
  }

  /// Members that have `role`, and those that are computed from them.
  std::unordered_set<ExprId> dependents_of(Role role) const {
    return dependents_of([&](ExprId id) { return facts_.expr(id).role == role; });
  }

  /// Members that `is_first` holds for, and those that are computed from them.
  template <typename Fn>
  std::unordered_set<ExprId> dependents_of(const Fn& is_first) const {
    std::unordered_set<ExprId> found;
    for (const ExprId id : group_.exprs) {
      const bool depends = std::ranges::any_of(flow_.expr(id).operands, [&](TensorId operand) {
        return found.contains(flow_.tensor(operand).made_by);
      });
      if (depends || is_first(id)) {
        found.insert(id);
      }
    }
    return found;
  }

  /// `later`, and the members that only these read, where their results are no smaller than what
  /// they read. Members that have the role `first` stay.
  std::unordered_set<ExprId> with_what_only_they_read(
      std::unordered_set<ExprId> later, Role first) const {
    const auto is_later = [&](ExprId id) { return later.contains(id) || !members_.contains(id); };
    for (size_t i = group_.exprs.size(); i-- > 0;) {
      const ExprId id = group_.exprs[i];
      const FlowExpr& expr = flow_.expr(id);
      const bool is_read_later = std::ranges::all_of(expr.results, [&](TensorId result) {
        return !std::ranges::binary_search(group_.outputs, result) &&
               std::ranges::all_of(flow_.tensor(result).readers, is_later);
      });
      if (later.contains(id) || facts_.expr(id).role == first || !is_read_later) {
        continue;
      }
      int64_t saved = 0;
      for (const TensorId result : expr.results) {
        saved += facts_.tensor(result).bytes;
      }
      for (const TensorId operand : expr.operands) {
        const FlowTensor& read = flow_.tensor(operand);
        const bool is_made_here = read.made_by != kNoExpr && members_.contains(read.made_by);
        const bool crosses = std::ranges::any_of(
            read.readers, [&](ExprId reader) { return later.contains(reader); });
        saved -= is_made_here && !crosses ? facts_.tensor(operand).bytes : 0;
      }
      if (saved >= 0) {
        later.insert(id);
      }
    }
    return later;
  }

  const TensorView* widest_output() const {
    const TensorView* widest = nullptr;
    size_t most = 0;
    for (const TensorId id : group_.outputs) {
      const TensorView* output = flow_.tensor(id).tensor;
      const size_t axes = schedule::concrete_axes(output).size();
      if (widest == nullptr || axes > most) {
        widest = output;
        most = axes;
      }
    }
    return widest;
  }

  /// Members with fewer axes than `most` that lead to an output with fewer, and that output.
  std::unordered_map<ExprId, TensorView*> leads_to_output_below(size_t most) const {
    std::unordered_map<ExprId, TensorView*> found;
    for (size_t i = group_.exprs.size(); i-- > 0;) {
      const ExprId id = group_.exprs[i];
      TensorView* result = flow_.result_of(id);
      if (schedule::concrete_axes(result).size() >= most) {
        continue;
      }
      for (const TensorId made : flow_.expr(id).results) {
        if (std::ranges::binary_search(group_.outputs, made)) {
          found.emplace(id, flow_.tensor(made).tensor);
        }
        for (const ExprId reader : flow_.tensor(made).readers) {
          if (const auto next = found.find(reader); next != found.end()) {
            found.emplace(id, next->second);
          }
        }
      }
    }
    return found;
  }

  const Flow& flow_;
  const Facts& facts_;
  const ValGraph& exact_;
  const Group& group_;
  std::unordered_set<ExprId> members_;
};

} // namespace

Reasons find_cuts(
    const Flow& flow,
    const Facts& facts,
    const ValGraph& exact,
    const Group& group,
    const schedule::FusionSummary& summary) {
  const CutSearch search(flow, facts, exact, group);
  const bool has_indistinct_axes =
      schedule::find_indistinct_axes(summary.fusion(), summary.exact()).has_value();
  if (has_indistinct_axes) {
    if (Reasons cuts = search.at_second_views(); !cuts.empty()) {
      return cuts;
    }
  }
  if (!summary.reductions().empty()) {
    if (Reasons cuts = search.before_last_reshapes(); !cuts.empty()) {
      return cuts;
    }
    if (search.has(Role::Resize)) {
      if (Reasons cuts = search.between_resizes_and_reductions(); !cuts.empty()) {
        return cuts;
      }
    }
    if (Reasons cuts = search.behind_statistics(); !cuts.empty()) {
      return cuts;
    }
    if (Reasons cuts = search.around_first_reduction(); !cuts.empty()) {
      return cuts;
    }
    if (Reasons cuts = search.before_values(); !cuts.empty()) {
      return cuts;
    }
    if (Reasons cuts = search.behind_reductions(); !cuts.empty()) {
      return cuts;
    }
    // Without reductions the rest would have no scheduler either, if it is its axes that are one.
    return has_indistinct_axes ? Reasons{} : search.before_reductions();
  }
  if (!summary.reference().reference) {
    if (Reasons cuts = search.around_reference(); !cuts.empty()) {
      return cuts;
    }
  }
  if (Reasons cuts = search.between_shapes(); !cuts.empty()) {
    return cuts;
  }
  if (search.has(Role::Scan)) {
    if (Reasons cuts = search.around(Role::Resize); !cuts.empty()) {
      return cuts;
    }
    if (Reasons cuts = search.around(Role::Scan); !cuts.empty()) {
      return cuts;
    }
  } else if (Reasons cuts = search.before_resizes(); !cuts.empty()) {
    return cuts;
  }
  return has_indistinct_axes ? Reasons{} : search.behind_widest_output();
}

} // namespace nvfuser::segment
