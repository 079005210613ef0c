#include "schedule/expr_eval/expr_eval.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "schedule/common/kernel_rules.h"
#include "schedule/expr_eval/declared_layout.h"
#include "schedule/params/plain_params.h"
#include "transform/concretization.h"

namespace nvfuser::schedule {
namespace {

/// The first tensor on the way from an input to `output` that is not in the memory of the input;
/// nullptr: `output` is a view.
const TensorView* find_computed(const TensorView* output) {
  std::vector<const TensorView*> chain = {output};
  while (!chain.back()->is_fusion_input()) {
    const Expr* definition = chain.back()->definition();
    if (definition == nullptr || semantics_of(*definition).view == ViewOf::Nothing) {
      return chain.back();
    }
    chain.push_back(tensor_inputs(definition).front());
  }
  DeclaredLayout layout(chain.back());
  for (size_t i = chain.size() - 1; i-- > 0;) {
    std::optional<DeclaredLayout> next = layout.view(chain[i + 1], chain[i]);
    if (!next.has_value()) {
      return chain[i];
    }
    layout = *std::move(next);
  }
  return nullptr;
}

std::optional<Refusal> find_computed_output(const FusionSummary& summary) {
  for (const TensorView* output : summary.outputs()) {
    const bool is_update = summary.fusion().alias_of(output) != nullptr;
    const bool has_layout = output->has_allocation() && !output->is_fusion_input();
    const TensorView* computed = is_update || has_layout ? output : find_computed(output);
    if (computed != nullptr && !(is_update && computed->is_fusion_input())) {
      return refuse(
          {.headline = "Fusion must contain only a single expression.",
           .node = describe(computed),
           .expected = "outputs that are views of inputs, or one expression of a library",
           .found = is_update    ? Part("an output that updates an input")
                    : has_layout ? Part("an output with a layout of its own")
                                 : Part(computed->definition()->op_name()),
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

bool is_view_of_input(const TensorView* output) {
  return !output->is_fusion_input() && output->fusion()->alias_of(output) == nullptr &&
         !output->has_allocation() && find_computed(output) == nullptr;
}

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
