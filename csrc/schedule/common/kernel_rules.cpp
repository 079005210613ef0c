#include "schedule/common/kernel_rules.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "graph/storage.h"
#include "ir/all_nodes.h"
#include "schedule/common/distinct_axes.h"
#include "transform/concretization.h"

namespace nvfuser::schedule {
namespace {

std::optional<Refusal> find_schedule(const FusionSummary& summary) {
  for (const TensorView* tensor : summary.computed()) {
    const bool is_bound = std::ranges::any_of(
        tensor->loop(), [](const IterDomain* axis) { return axis->is_parallelized(); });
    if (is_bound || tensor->is_inlined() || tensor->loop() != tensor->domain()->initial_loop()) {
      return refuse(
          {.headline = "the fusion has a schedule already",
           .node = describe(tensor),
           .expected = "tensors whose loops run over their axes, serially",
           .found = "loops that were transformed, bound or shared",
           .fix = "schedule a definition without scheduling calls, or a clone() made before them"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_unsupported(const Expr* expr) {
  if (is_product(expr)) {
    return refuse(
        {.headline = "Matmul ops are not supported.",
         .node = describe(expr->outputs().front()),
         .expected = "a fusion without products of matrices",
         .found = expr->op_name(),
         .fix = "cut the fusion before and behind the product"},
        ErrorKind::NotImplemented);
  }
  if (!is_for_library(expr)) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "Has unsupported ops",
       .node = describe(expr->outputs().front()),
       .expected = "operations that loops over the elements compute",
       .found = expr->op_name(),
       .fix = "cut the fusion before and behind the operation"},
      ErrorKind::NotImplemented);
}

/// `may_be_resized`: slices and pads do not count.
bool is_read_elsewhere(const TensorView* operand, const TensorView* result, bool may_be_resized) {
  return std::ranges::any_of(axes_of_use(operand, result), [&](const AxisUse& axis) {
    return operand_read(axis.read) == OperandRead::Elsewhere &&
           !(may_be_resized && axis.read == AxisRead::Resized);
  });
}

std::optional<Refusal> find_computed_lookup(const Expr* expr, bool may_be_resized) {
  for (const TensorView* operand : tensor_inputs(expr)) {
    if (operand->is_fusion_input()) {
      continue;
    }
    for (const TensorView* result : tensor_outputs(expr)) {
      if (is_read_elsewhere(operand, result, may_be_resized)) {
        return refuse(
            {.headline = {"an operand of ", expr->op_name(), " must be a fusion input"},
             .node = describe(operand),
             .expected = "a tensor in memory: its elements are read at other positions",
             .found = "a tensor that is computed in the same kernel, by other threads",
             .fix = "cut the fusion before the operation"});
      }
    }
  }
  return std::nullopt;
}

} // namespace

const IterDomain* find_expanded_axis(const TensorView& output, const TensorView& input) {
  const IterDomains written = TensorDomain::no_reductions(output.logical());
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i]->has_expanded_extent() && !input.logical().at(i)->is_broadcast()) {
      return written[i];
    }
  }
  return nullptr;
}

bool is_for_library(const Expr* expr) {
  const OpSemantics& semantics = semantics_of(*expr);
  const std::vector<TensorView*> results = tensor_outputs(expr);
  const bool has_components = std::ranges::any_of(results, [](const TensorView* result) {
    return std::ranges::any_of(
        result->logical(), [](const IterDomain* axis) { return axis->is_vector_component(); });
  });
  return has_components || semantics.overwrites_first ||
         (semantics.read > OperandRead::Elsewhere && !semantics.has_steps);
}

bool is_product(const Expr* expr) {
  const OpSemantics& semantics = semantics_of(*expr);
  return semantics.read == OperandRead::Reduced && !semantics.has_steps;
}

bool is_scan(const Expr* expr) {
  return semantics_of(*expr).read == OperandRead::Scanned;
}

bool is_in_order(const Expr* expr) {
  return is_scan(expr) || semantics_of(*expr).loops_over_operands;
}

namespace {

/// Outputs that no kernel stores.
std::optional<Refusal> find_unfit_output(const Fusion& fusion) {
  for (const Val* output : fusion.outputs()) {
    if (!output->is_tensor()) {
      continue;
    }
    const auto* tensor = static_cast<const TensorView*>(output);
    if (tensor->is_cpu_scalar()) {
      return refuse(
          {.headline = "an output lies in host memory",
           .node = describe(output),
           .expected = "outputs that a kernel writes to device memory",
           .found = "a scalar of the host",
           .fix = "return it without a kernel: fd.execute(inputs) does"});
    }
    const TensorView* input = updated_input(output);
    const IterDomain* axis = input == nullptr ? nullptr : find_expanded_axis(*tensor, *input);
    if (axis != nullptr) {
      return refuse(
          {.headline = "an expanded tensor is written into an input",
           .node = {describe(output), "\nis written into ", describe(input)},
           .expected = "an element for each one of the input",
           .found = {axis->to_string(), ", one element for all"},
           .fix = "make an element for each, for instance by adding a tensor of zeros"});
    }
  }
  return std::nullopt;
}

/// Expressions that are allowed beyond maps and reductions.
struct Allowed {
  bool resizes = false;  // operands of slices and pads that are computed
  bool in_order = false; // scans and scatters
  bool products = false;
};

std::optional<Refusal> find_refusal_of_kernels(const FusionSummary& summary, Allowed allowed) {
  NVF_RETURN_REFUSAL(find_unresolved(summary.fusion()));
  NVF_RETURN_REFUSAL(find_schedule(summary));
  for (const Expr* expr : summary.exprs()) {
    const bool is_allowed =
        (allowed.in_order && is_in_order(expr)) || (allowed.products && is_product(expr));
    if (!is_allowed) {
      NVF_RETURN_REFUSAL(find_unsupported(expr));
      NVF_RETURN_REFUSAL(find_computed_lookup(expr, allowed.resizes));
    }
  }
  NVF_RETURN_REFUSAL(find_unfit_output(summary.fusion()));
  return find_indistinct_axes(summary.fusion(), summary.exact());
}

} // namespace

std::optional<Refusal> find_refusal_of_kernels(const FusionSummary& summary) {
  return find_refusal_of_kernels(summary, Allowed{});
}

std::optional<Refusal> find_refusal_of_moving_kernels(const FusionSummary& summary) {
  return find_refusal_of_kernels(summary, {.resizes = true});
}

std::optional<Refusal> find_refusal_of_greedy_kernels(const FusionSummary& summary) {
  return find_refusal_of_kernels(summary, {.in_order = true});
}

std::optional<Refusal> find_refusal_of_product_kernels(const FusionSummary& summary) {
  return find_refusal_of_kernels(summary, {.products = true});
}

std::optional<Refusal> find_smaller_output(const FusionSummary& summary) {
  for (const TensorAccess& access : summary.accesses()) {
    if (access.is_output && !access.has_all_axes) {
      return refuse(
          {.headline = "outputs have different shapes",
           .node = describe(access.tensor),
           .expected =
               {"an output with the axes of ", summary.reference().reference->tensor->to_string()},
           .found = access.tensor->to_string(),
           .fix = "cut the fusion between tensors of different shapes"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_moved_update(const FusionSummary& summary) {
  for (const TensorAccess& access : summary.accesses()) {
    if (!access.updated_input) {
      continue;
    }
    const auto* input =
        static_cast<const TensorView*>(summary.fusion().inputs()[*access.updated_input]);
    const bool is_elementwise = elementwise_uses(input).size() == input->uses().size();
    const bool is_safe =
        input->uses().empty() ||
        (is_elementwise && updates_same_elements(summary.exact(), access.tensor, input));
    if (!is_safe) {
      return refuse(
          {.headline = "an input is updated in place while other threads read it",
           .node = describe(access.tensor),
           .expected = "readers of the same element, whose thread writes it",
           .found = {describe(input), ", which is read at other positions"},
           .fix = "cut the fusion before the update"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_reduction(const FusionSummary& summary) {
  if (summary.reductions().empty()) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "no support for reduction ops",
       .node = describe(summary.reductions().front().out),
       .expected = "a fusion without reductions",
       .found = summary.reductions().front().expr->op_name(),
       .fix = "the schedulers of reductions take it"});
}

std::optional<Refusal> find_resize(const FusionSummary& summary) {
  for (const Expr* expr : summary.exprs()) {
    for (const TensorView* result : tensor_outputs(expr)) {
      if (!axes_read(result, AxisRead::Resized).empty()) {
        return refuse(
            {.headline = "no support for resize ops",
             .node = describe(result),
             .expected = "a fusion without slices, pads and concatenations",
             .found = expr->op_name(),
             .fix = "the resize scheduler takes it"});
      }
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_refusal_of_maps(const FusionSummary& summary) {
  NVF_RETURN_REFUSAL(find_refusal_of_kernels(summary));
  NVF_RETURN_REFUSAL(find_reduction(summary));
  if (!summary.reference().reference) {
    return summary.reference().refusal;
  }
  NVF_RETURN_REFUSAL(find_resize(summary));
  NVF_RETURN_REFUSAL(find_moved_update(summary));
  return find_smaller_output(summary);
}

} // namespace nvfuser::schedule
