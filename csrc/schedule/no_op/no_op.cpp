#include "schedule/no_op/no_op.h"

#include <algorithm>

#include "schedule/common/canonical.h"
#include "schedule/common/kernel_rules.h"
#include "schedule/params/plain_params.h"
#include "schedule/summary/axis_sources.h"
#include "transform/inline.h"

namespace nvfuser::schedule {
namespace {

bool is_empty(const IterDomains& axes, const RunFacts& facts) {
  return std::ranges::any_of(
      axes, [&](const IterDomain* axis) { return facts.size(axis->maybe_expanded_extent()) == 0; });
}

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  return find_refusal_of_kernels(summary);
}

std::optional<Refusal> find_refusal_by_size(const FusionSummary& summary, const RunFacts& facts) {
  for (const TensorView* output : summary.outputs()) {
    const IterDomains axes = TensorDomain::no_reductions(output->logical());
    if (!concrete_axes(output).empty() && !is_empty(axes, facts)) {
      return refuse(
          {.headline = "output has a concrete dimension",
           .node = describe(output),
           .expected = "outputs of one element, or of none",
           .found = output->to_string(),
           .fix = "the other schedulers compute it"});
    }
  }
  for (const ReductionFacts& reduction : summary.reductions()) {
    if (!is_empty(reduction.out->logical(), facts)) {
      return refuse(
          {.headline = "reduction of non-zero elements is not supported",
           .node = describe(reduction.out),
           .expected = "nothing to reduce",
           .found = reduction.out->to_string(),
           .fix = "the schedulers of reductions take it"});
    }
  }
  return std::nullopt;
}

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& /*summary*/, const RunFacts& /*facts*/) {
  return std::make_unique<PlainParams>(SchedulerType::no_op);
}

/// Whether it has one element, or so many as its type says, in the loops that it does not share.
bool fits_registers(const TensorView* tensor) {
  const IterDomains& loop = tensor->loop();
  const auto first_own = loop.begin() + tensor->compute_at_position();
  return std::all_of(first_own, loop.end(), [](const IterDomain* axis) {
    return axis->is_reduction() || axis->is_broadcast() || axis->extent()->is_const_int();
  });
}

/// Loops over reduced axes move inside of those over the results: each has its own accumulator.
void move_reductions_inside(TensorView* tensor) {
  std::vector<int64_t> order;
  std::vector<int64_t> reductions;
  for (int64_t i = 0; i < tensor->ndims(); ++i) {
    (tensor->axis(i)->is_reduction() ? reductions : order).push_back(i);
  }
  order.insert(order.end(), reductions.begin(), reductions.end());
  arrange_axes(tensor, order);
}

/// Tensors that an output without elements is computed from may have elements: they are computed
/// where they are used, or lie in memory. Most such kernels are not even launched.
void apply(FusionSummary& summary, const HeuristicParams& params) {
  static_cast<void>(params_as<PlainParams>(params, SchedulerType::no_op));
  std::ranges::for_each(summary.computed(), move_reductions_inside);
  std::vector<TensorView*> between = summary.computed();
  std::erase_if(between, [](const TensorView* tensor) { return tensor->is_fusion_output(); });
  if (std::ranges::all_of(between, fits_registers)) {
    return;
  }
  transform::inline_most(summary.fusion(), summary.computed());
  for (TensorView* tensor : between) {
    if (!fits_registers(tensor)) {
      tensor->set_memory_type(MemoryType::Global);
    }
  }
}

} // namespace

const Scheduler& no_op_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::no_op,
      .find_refusal_by_structure = find_refusal_by_structure,
      .find_refusal_by_size = find_refusal_by_size,
      .compute_heuristics = compute_heuristics,
      .apply = apply};
  return kScheduler;
}

} // namespace nvfuser::schedule
