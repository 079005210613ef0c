#include "schedule/expr_eval/expr_eval.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "schedule/common/kernel_rules.h"
#include "schedule/params/plain_params.h"
#include "transform/concretization.h"

namespace nvfuser::schedule {
namespace {

/// Whether the axes `outer` and `inner` of `tensor` are neighbours in its memory, so that merging
/// them moves nothing.
bool are_packed(const TensorView* tensor, const IterDomain* outer, const IterDomain* inner) {
  const IterDomains& memory = tensor->maybe_allocation();
  const auto at_outer = std::ranges::find(memory, outer);
  if (at_outer == memory.end() || at_outer + 1 == memory.end() || *(at_outer + 1) != inner) {
    return false;
  }
  const auto position = static_cast<size_t>(at_outer - memory.begin());
  return tensor->domain()->contiguity()[position].value_or(false);
}

/// Whether the elements of `tensor` lie one behind the other, in the order of its axes.
bool is_row_major(const TensorView* tensor) {
  const IterDomains& memory = tensor->maybe_allocation();
  const Contiguity& contiguity = tensor->domain()->contiguity();
  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory[i]->has_expanded_extent() || !contiguity[i].value_or(true)) {
      return false;
    }
  }
  return memory == tensor->logical();
}

/// Whether the elements of a reshape lie in memory as those of the input it reads.
bool moves_nothing(const ReshapeOp& reshape) {
  if (!reshape.arg->is_fusion_input()) {
    return false; // its layout is that of another view
  }
  if (is_row_major(reshape.arg)) {
    return true;
  }
  const IterDomains& root = reshape.out->maybe_root();
  const IterDomains logical = TensorDomain::no_reductions(reshape.arg->logical());
  const auto axis_of_input = [&](const IterDomain* axis) -> const IterDomain* {
    const auto found = std::ranges::find(root, axis);
    return found == root.end() ? nullptr : logical[static_cast<size_t>(found - root.begin())];
  };
  return std::ranges::all_of(exprs_between(root, reshape.out->logical()), [&](const Expr* expr) {
    const auto* merge = expr->as<Merge>();
    return merge == nullptr ||
           are_packed(reshape.arg, axis_of_input(merge->outer), axis_of_input(merge->inner));
  });
}

/// Whether a result has its operand's elements where they are.
bool is_view(const Expr& expr) {
  if (const auto* reshape = expr.as<ReshapeOp>()) {
    return moves_nothing(*reshape);
  }
  return expr.is_a<LoadStoreOp>() || expr.is_a<SliceOp>() || expr.is_a<BroadcastOp>() ||
         expr.is_a<SqueezeOp>() || expr.is_a<ExpandOp>();
}

std::optional<Refusal> find_computed_output(const FusionSummary& summary) {
  for (const TensorView* output : summary.outputs()) {
    const bool is_update = summary.fusion().alias_of(output) != nullptr;
    const TensorView* current = output;
    while (!is_update && !output->has_allocation() && current->definition() != nullptr &&
           is_view(*current->definition())) {
      current = tensor_inputs(current->definition()).front();
    }
    if (!current->is_fusion_input()) {
      return refuse(
          {.headline = "Fusion must contain only a single expression.",
           .node = describe(current),
           .expected = "outputs that are views of inputs, or one expression of a library",
           .found = is_update                  ? Part("an output that updates an input")
                    : output->has_allocation() ? Part("an output with a layout of its own")
                                               : Part(current->definition()->op_name()),
           .fix = "the other schedulers compute it"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  NVF_RETURN_REFUSAL(find_unresolved(summary.fusion()));
  const bool is_one_for_library =
      summary.exprs().size() == 1 && is_for_library(summary.exprs().front());
  return is_one_for_library ? std::nullopt : find_computed_output(summary);
}

std::optional<Refusal> find_refusal_by_size(
    const FusionSummary& /*summary*/, const RunFacts& /*facts*/) {
  return std::nullopt;
}

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& /*summary*/, const RunFacts& /*facts*/) {
  return std::make_unique<PlainParams>(SchedulerType::expr_eval);
}

void apply(FusionSummary& /*summary*/, const HeuristicParams& params) {
  static_cast<void>(params_as<PlainParams>(params, SchedulerType::expr_eval));
}

} // namespace

const Scheduler& expr_eval_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::expr_eval,
      .find_refusal_by_structure = find_refusal_by_structure,
      .find_refusal_by_size = find_refusal_by_size,
      .compute_heuristics = compute_heuristics,
      .apply = apply};
  return kScheduler;
}

} // namespace nvfuser::schedule
