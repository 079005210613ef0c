#include <algorithm>

#include "graph/op_semantics.h"
#include "schedule/common/problem_sizes.h"
#include "schedule/common/reduction_rules.h"
#include "schedule/inner_outer/inner_outer.h"

namespace nvfuser::schedule {
namespace inner_outer {
namespace {

/// Documented reasons begin so.
constexpr const char* kBegin = "to use combined reduction, ";

const ReductionFacts& inner_facts(const FusionSummary& summary) {
  return *std::ranges::find(
      summary.reductions(), summary.problem()->reference, &ReductionFacts::out);
}

std::optional<Refusal> find_other_pattern(const FusionSummary& summary) {
  if (!summary.problem()->is_inner) {
    return refuse(
        {.headline = {kBegin, "inner reductions are required"},
         .node = describe(summary.problem()->reference),
         .expected = "a reduction of the axis that is innermost in memory",
         .found = "none",
         .fix = "outer_persistent may take it"});
  }
  const ReductionFacts& inner = inner_facts(summary);
  bool has_outer = false;
  for (const ReductionFacts& other : summary.reductions()) {
    const bool is_mirrored = other.reduced == inner.kept && other.kept == inner.reduced;
    has_outer |= is_mirrored;
    const bool fits =
        ((is_mirrored && other.expr->outputs().size() == 1) || other.has_same_axes(inner)) &&
        other.out->logical().size() == inner.axes.size();
    if (!fits) {
      return refuse(
          {.headline = {kBegin, "inner and outer reductions must have mirrored axes"},
           .node = describe(other.out),
           .expected = {"the axes of ", describe(inner.out), ", or those it keeps reduced"},
           .found = other.out->to_string(),
           .fix = "cut the fusion between the two"});
    }
  }
  if (!has_outer) {
    return refuse(
        {.headline = {kBegin, "outer reductions are required"},
         .node = describe(inner.out),
         .expected = "a reduction of the axes that it keeps",
         .found = "none",
         .fix = "inner_persistent may take it"});
  }
  return std::nullopt;
}

TensorSetOf tensors_behind(const std::vector<const ReductionFacts*>& reductions) {
  TensorSetOf behind;
  std::vector<const TensorView*> pending;
  for (const ReductionFacts* reduction : reductions) {
    for (const TensorView* result : tensor_outputs(reduction->expr)) {
      behind.insert(result);
      pending.push_back(result);
    }
  }
  while (!pending.empty()) {
    const TensorView* current = pending.back();
    pending.pop_back();
    for (const TensorView* consumer : current->consumers()) {
      if (behind.insert(consumer).second) {
        pending.push_back(consumer);
      }
    }
  }
  return behind;
}

/// Tensors that are computed from sums over rows are computed for columns, after all rows.
std::optional<Refusal> find_shared_consumer(const FusionSummary& summary) {
  const ReductionFacts& inner = inner_facts(summary);
  const TensorSetOf behind = tensors_behind(outer_reductions(summary));
  for (const Expr* expr : summary.exprs()) {
    const TensorView* result = tensor_outputs(expr).front();
    if (!behind.contains(result)) {
      continue;
    }
    const bool is_outer = std::ranges::any_of(
        outer_reductions(summary),
        [&](const ReductionFacts* outer) { return outer->expr == expr; });
    const bool has_other_operand =
        !is_outer && std::ranges::any_of(tensor_inputs(expr), [&](const TensorView* operand) {
          return !behind.contains(operand) && !operand->is_fusion_input();
        });
    const bool has_rows = std::ranges::any_of(result->logical(), [&](const IterDomain* axis) {
      return !axis->is_reduction() &&
             std::ranges::binary_search(inner.kept, summary.exact().group(axis));
    });
    const bool reduces_again = !is_outer && semantics_of(*expr).has_steps;
    if (has_other_operand || has_rows || reduces_again) {
      return refuse(
          {.headline = {kBegin, "results of inner and outer reductions must not meet"},
           .node = describe(result),
           .expected = "columns that are computed from outer reductions and inputs alone",
           .found = expr->op_name(),
           .fix = "cut the fusion behind the outer reduction"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_update(const FusionSummary& summary) {
  for (const TensorAccess& access : summary.problem()->accesses) {
    if (access.updated_input && !summary.fusion().inputs()[*access.updated_input]->uses().empty()) {
      return refuse(
          {.headline = {kBegin, "no input may be updated that is read"},
           .node = describe(access.tensor),
           .expected = "outputs in memory of their own",
           .found = "an update in place",
           .fix = "cut the fusion before the update"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  NVF_RETURN_REFUSAL(find_refusal_of_reductions(summary));
  NVF_RETURN_REFUSAL(find_other_pattern(summary));
  NVF_RETURN_REFUSAL(find_shared_consumer(summary));
  NVF_RETURN_REFUSAL(find_uncovered_tensor(summary));
  return find_update(summary);
}

std::optional<Refusal> find_refusal_by_size(const FusionSummary& summary, const RunFacts& facts) {
  const ProblemSizes sizes = sizes_of(*summary.problem(), facts);
  if (!facts.target().is_cuda()) {
    return refuse(
        {.headline = {kBegin, "sums over rows must stay in registers"},
         .node = describe(summary.problem()->reference),
         .expected = "a GPU: a task of a processor has no registers for a row",
         .found = facts.target().name(),
         .fix = "cut the fusion between the reductions"});
  }
  const bool is_empty = sizes.kept == 0 || sizes.reduced == 0;
  if (!is_empty && find_row_layout(summary, facts)) {
    return std::nullopt;
  }
  return refuse(
      {.headline = {kBegin, is_empty ? "there must be elements" : "rows must fit on chip"},
       .node = describe(summary.problem()->reference),
       .expected = "what is kept of a row to fit on chip, with its sums over rows",
       .found = {sizes.kept, " rows of ", sizes.reduced},
       .fix = "cut the fusion between the reductions"});
}

} // namespace

std::vector<const ReductionFacts*> outer_reductions(const FusionSummary& summary) {
  const ReductionFacts& inner = inner_facts(summary);
  std::vector<const ReductionFacts*> outer;
  for (const ReductionFacts& facts : summary.reductions()) {
    if (!facts.has_same_axes(inner)) {
      outer.push_back(&facts);
    }
  }
  return outer;
}

} // namespace inner_outer

const Scheduler& inner_outer_persistent_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::inner_outer_persistent,
      .find_refusal_by_structure = inner_outer::find_refusal_by_structure,
      .find_refusal_by_size = inner_outer::find_refusal_by_size,
      .compute_heuristics = inner_outer::compute_heuristics,
      .find_figures = inner_outer::find_figures,
      .apply = inner_outer::apply};
  return kScheduler;
}

} // namespace nvfuser::schedule
