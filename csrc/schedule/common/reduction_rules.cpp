#include "schedule/common/reduction_rules.h"

#include <algorithm>
#include <unordered_set>

#include "graph/op_semantics.h"
#include "graph/storage.h"
#include "ir/all_nodes.h"
#include "schedule/common/kernel_rules.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

std::optional<Refusal> find_group(const FusionSummary& summary) {
  for (const ReductionFacts& reduction : summary.reductions()) {
    if (reduction.expr->is_a<GroupedReductionOp>()) {
      return refuse(
          {.headline = "the fusion has a schedule already",
           .node = describe(reduction.out),
           .expected = "reductions on their own",
           .found = "reductions that were grouped",
           .fix = "schedule a definition without scheduling calls"});
    }
  }
  return std::nullopt;
}

/// Whether all that is computed from `tensor` leads to `output` alone.
bool leads_only_to(const TensorView* tensor, const TensorView* output) {
  std::vector<const TensorView*> pending{tensor};
  TensorSetOf seen{tensor};
  while (!pending.empty()) {
    const TensorView* current = pending.back();
    pending.pop_back();
    if (current->is_fusion_output() && current != output) {
      return false;
    }
    for (const TensorView* consumer : current->consumers()) {
      if (seen.insert(consumer).second) {
        pending.push_back(consumer);
      }
    }
  }
  return true;
}

/// A broadcast that is reduced is not the axis that its result reduces.
std::optional<Refusal> find_reduced_broadcast(const ReductionFacts& reduction) {
  const IterDomains operand = TensorDomain::no_reductions(reduction.operand->logical());
  const IterDomains& result = reduction.out->maybe_root();
  for (size_t i = 0; i < operand.size(); ++i) {
    if (operand[i]->is_broadcast() && result.at(i)->is_reduction()) {
      return refuse(
          {.headline = "Inconsistent reduction root size",
           .node = describe(reduction.out),
           .expected = {"axes of ", describe(reduction.operand), " with elements of their own"},
           .found = operand[i]->to_string(),
           .fix = "cut the fusion before the reduction, or squeeze the axis first"});
    }
  }
  return std::nullopt;
}

/// Classes of the broadcasts of `tensor`, sorted.
std::vector<int64_t> broadcasts_of(const ValGraph& exact, const TensorView* tensor) {
  std::vector<int64_t> classes;
  for (const IterDomain* axis : tensor->logical()) {
    if (axis->is_broadcast()) {
      classes.push_back(exact.group(axis));
    }
  }
  std::ranges::sort(classes);
  return classes;
}

/// Elements that an expanded operand repeats are not told apart once they are merged.
std::optional<Refusal> find_expanded_reshape(const FusionSummary& summary) {
  for (const ReshapeOp* reshape : summary.reshapes()) {
    const IterDomains read = TensorDomain::no_reductions(reshape->arg->logical());
    const IterDomains& made = reshape->out->logical();
    for (size_t i = 0; i < read.size(); ++i) {
      const IterDomain* axis = read[i];
      const bool is_kept = std::ranges::find(made, reshape->out->maybe_root().at(i)) != made.end();
      if (axis->is_broadcast() && (!is_kept || axis->has_expanded_extent())) {
        return refuse(
            {.headline = "View may interfere with reduction scheduling.",
             .node = describe(reshape->out),
             .expected = "a reshape of axes that are no broadcasts",
             .found = axis->to_string(),
             .fix = "cut the fusion behind the reshape"});
      }
    }
  }
  return std::nullopt;
}

/// Whether all readers of a broadcast compute with it in loops of their own axes: they have an
/// element for each that it repeats, or repeat it themselves.
bool is_left_to_readers(const TensorView* tensor, const IterDomain* axis) {
  const IterDomains axes = TensorDomain::no_reductions(tensor->logical());
  const auto place = static_cast<size_t>(std::ranges::find(axes, axis) - axes.begin());
  const std::vector<TensorView*> readers = tensor->consumers();
  return std::ranges::all_of(readers, [&](const TensorView* reader) {
    const AxisUse use = axes_of_use(tensor, reader).at(place);
    const IterDomains& read = reader->maybe_root();
    return use.read == AxisRead::Same && use.is_partner &&
           use.position < static_cast<int64_t>(read.size()) &&
           (!read[static_cast<size_t>(use.position)]->is_broadcast() ||
            read[static_cast<size_t>(use.position)]->has_expanded_extent());
  });
}

/// A loop over the elements that a broadcast repeats would be one that the reference lacks. Where
/// readers have an axis in its place, no loop runs over them.
std::optional<Refusal> find_expanded(const TensorView* tensor, const ReductionProblem& problem) {
  for (const IterDomain* axis : tensor->logical()) {
    if (axis->has_expanded_extent() &&
        (tensor->is_fusion_output() || !is_left_to_readers(tensor, axis))) {
      return refuse(
          {.headline = "Output contains ID that's not scheduled by reference tv.",
           .node = describe(tensor),
           .expected = {"axes of ", describe(problem.reference)},
           .found = {axis->to_string(), ", which repeats an element"},
           .fix = "cut the fusion before the tensor is expanded"});
    }
  }
  return std::nullopt;
}

} // namespace

TensorSetOf tensors_behind_reductions(const FusionSummary& summary) {
  TensorSetOf behind;
  for (const ReductionFacts& reduction : summary.reductions()) {
    for (const TensorView* result : tensor_outputs(reduction.expr)) {
      behind.insert(result);
    }
  }
  for (const Expr* expr : summary.exprs()) {
    const std::vector<TensorView*> operands = tensor_inputs(expr);
    if (std::ranges::any_of(operands, [&](const TensorView* in) { return behind.contains(in); })) {
      for (const TensorView* result : tensor_outputs(expr)) {
        behind.insert(result);
      }
    }
  }
  return behind;
}

namespace {

/// An axis that two reshapes make in different ways: loops that follow one of them do not lead to
/// the other.
std::optional<Refusal> find_two_origins(const FusionSummary& summary) {
  const ValGraph& exact = summary.exact();
  for (const ReductionFacts& reduction : summary.reductions()) {
    for (const IterDomain* axis : reduction.out->maybe_root()) {
      std::unordered_set<const Expr*> origins;
      for (Expr* made_by : exact.definitions(exact.group(axis))) {
        origins.insert(exact.disjoint_expr_sets().representative(made_by));
      }
      if (origins.size() > 1) {
        return refuse(
            {.headline = "View may interfere with reduction scheduling.",
             .node = describe(reduction.out),
             .expected = "axes that reshapes make in one way",
             .found = {axis->to_string(), ", which several reshapes lead to"},
             .fix = "cut the fusion before the reshape"});
      }
    }
  }
  return std::nullopt;
}

/// A single value that is read off a tensor whose other readers have it in the loops over a row: no
/// loop is left for it to be computed in.
std::optional<Refusal> find_value_in_rows(const FusionSummary& summary) {
  const AxisClasses resolved = resolved_broadcasts(summary.exact(), summary.exprs());
  for (const Expr* expr : summary.exprs()) {
    const TensorView* result = tensor_outputs(expr).front();
    if (!expr->is_a<SqueezeOp>() || !result->logical().empty()) {
      continue;
    }
    const TensorView* operand = tensor_inputs(expr).front();
    const bool is_in_rows = std::ranges::any_of(operand->logical(), [&](const IterDomain* axis) {
      return resolved.contains(summary.exact().group(axis));
    });
    if (is_in_rows) {
      return refuse(
          {.headline = "a value is squeezed out of what is computed with a row",
           .node = describe(result),
           .expected = {"an operand that no reader broadcasts"},
           .found = describe(operand),
           .fix = "cut the fusion before the squeeze"});
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_refusal_of_reductions(const FusionSummary& summary) {
  NVF_RETURN_REFUSAL(find_refusal_of_kernels(summary));
  if (summary.reductions().empty()) {
    return refuse(
        {.headline = "No reduction op to schedule",
         .node = "the fusion",
         .expected = "a reduction of a tensor",
         .found = "none",
         .fix = "the pointwise scheduler takes maps"});
  }
  NVF_RETURN_REFUSAL(find_group(summary));
  NVF_RETURN_REFUSAL(find_two_origins(summary));
  NVF_RETURN_REFUSAL(find_value_in_rows(summary));
  return find_resize(summary);
}

std::optional<Refusal> find_different_reductions(const FusionSummary& summary) {
  for (const ReductionFacts& reduction : summary.reductions()) {
    NVF_RETURN_REFUSAL(find_reduced_broadcast(reduction));
  }
  const ReductionFacts& first = summary.reductions().front();
  for (const ReductionFacts& other : summary.reductions()) {
    if (!first.has_same_axes(other)) {
      return refuse(
          {.headline =
               {"Un-mapped multi-reduction: ", first.out->to_string(), " and ",
                other.out->to_string()},
           .node = describe(other.out),
           .expected = {"the axes of ", describe(first.out), ", kept and reduced alike"},
           .found = "other axes",
           .fix = "cut the fusion between the two"});
    }
    if (broadcasts_of(summary.exact(), first.out) != broadcasts_of(summary.exact(), other.out)) {
      return refuse(
          {.headline = "Inconsistent reduction root size",
           .node = describe(other.out),
           .expected = {"the axes of ", describe(first.out)},
           .found = {other.out->to_string(), ", with other axes of size 1"},
           .fix = "cut the fusion between the two, or squeeze the axes of size 1 first"});
    }
  }
  return std::nullopt;
}

const TensorView* find_resolved_broadcast(
    const FusionSummary& summary, const TensorSetOf& left_out) {
  const TensorSetOf behind = tensors_behind_reductions(summary);
  const auto is_reduced_axis = [&](const IterDomain* axis) {
    return std::ranges::any_of(summary.problem()->reduced, [&](const IterDomain* reduced) {
      return summary.exact().are_mapped(axis, reduced);
    });
  };
  for (const TensorView* tensor : summary.computed()) {
    if (behind.contains(tensor) && !left_out.contains(tensor) &&
        std::ranges::any_of(concrete_axes(tensor), is_reduced_axis)) {
      return tensor;
    }
  }
  return nullptr;
}

namespace {

/// The tensors that loops of the reference are brought to: over reshapes backward, and forward only
/// to axes of the reference. What a reshape merged again has no loops over the parts, unless it
/// meets a tensor of before they were split.
TensorSetOf tensors_in_reach(const FusionSummary& summary, const AxisClasses& own) {
  const auto has_own_axes = [&](const TensorView* tensor) {
    return std::ranges::all_of(concrete_axes(tensor), [&](const IterDomain* axis) {
      return own.contains(summary.exact().group(axis));
    });
  };
  TensorSetOf reached{summary.problem()->reference};
  std::vector<const TensorView*> pending{summary.problem()->reference};
  const auto reach = [&](const TensorView* tensor) {
    if (reached.insert(tensor).second) {
      pending.push_back(tensor);
    }
  };
  while (!pending.empty()) {
    const TensorView* tensor = pending.back();
    pending.pop_back();
    std::ranges::for_each(tensor->producers(), reach);
    std::ranges::for_each(tensor->siblings(), reach);
    for (const Expr* use : tensor->uses()) {
      for (const TensorView* reader : tensor_outputs(use)) {
        if (!use->is_a<ReshapeOp>() || has_own_axes(reader)) {
          reach(reader);
        }
      }
    }
  }
  return reached;
}

} // namespace

std::optional<Refusal> find_uncovered_tensor(const FusionSummary& summary) {
  const ReductionProblem& problem = *summary.problem();
  const ValGraph& exact = summary.exact();
  const TensorSetOf behind = tensors_behind_reductions(summary);
  const AxisClasses sources = sources_of(exact, problem.reference->logical());
  AxisClasses own;
  for (const IterDomain* axis : problem.reference->logical()) {
    own.insert(exact.group(axis));
  }
  NVF_RETURN_REFUSAL(find_expanded_reshape(summary));
  const auto find = [&](const TensorView* tensor) -> std::optional<Refusal> {
    const AxisClasses& known = behind.contains(tensor) ? own : sources;
    for (const IterDomain* axis : concrete_axes(tensor)) {
      if (!known.contains(exact.group(axis))) {
        const bool is_reshaped = behind.contains(tensor) && sources.contains(exact.group(axis));
        return refuse(
            {.headline = is_reshaped || !summary.reshapes().empty()
                             ? "View may interfere with reduction scheduling."
                             : "Output contains ID that's not scheduled by reference tv.",
             .node = describe(tensor),
             .expected = {"axes of ", describe(problem.reference)},
             .found = axis->to_string(),
             .fix = "cut the fusion before the tensor"});
      }
    }
    return std::nullopt;
  };
  const TensorSetOf reached =
      summary.reshapes().empty() ? TensorSetOf(summary.computed().begin(), summary.computed().end())
                                 : tensors_in_reach(summary, own);
  for (const TensorView* tensor : summary.computed()) {
    NVF_RETURN_REFUSAL(find(tensor));
    NVF_RETURN_REFUSAL(find_expanded(tensor, problem));
    if (!reached.contains(tensor)) {
      return refuse(
          {.headline = "View may interfere with reduction scheduling.",
           .node = describe(tensor),
           .expected = {"axes of ", describe(problem.reference)},
           .found = "a reshape of them that nothing else leads to",
           .fix = "cut the fusion before the reshape"});
    }
  }
  for (const TensorView* input : summary.inputs()) {
    if (!elementwise_uses(input).empty()) {
      NVF_RETURN_REFUSAL(find(input));
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_shared_update(const FusionSummary& summary) {
  for (const TensorAccess& access : summary.problem()->accesses) {
    if (!access.updated_input) {
      continue;
    }
    const auto* input =
        static_cast<const TensorView*>(summary.fusion().inputs()[*access.updated_input]);
    const bool is_elementwise = elementwise_uses(input).size() == input->uses().size();
    const bool is_safe =
        input->uses().empty() ||
        (is_elementwise && updates_same_elements(summary.exact(), access.tensor, input) &&
         (access.has_all_axes || leads_only_to(input, access.tensor)));
    if (!is_safe) {
      return refuse(
          {.headline = "an input is updated in place while other threads read it",
           .node = describe(access.tensor),
           .expected = "a reader of the same element, whose thread writes it",
           .found = {describe(input), ", which is read otherwise as well"},
           .fix = "cut the fusion before the update"});
    }
  }
  return std::nullopt;
}

} // namespace nvfuser::schedule
