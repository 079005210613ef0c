#include "host/piece_planner.h"

#include <algorithm>
#include <numeric>

#include "base/errors.h"
#include "base/trace.h"
#include "base/value_or_throw.h"
#include "host/segments.h"
#include "ir/all_nodes.h"
#include "ir/find_undefined.h"
#include "optimize/optimized_fusion.h"
#include "runtime/compiled_kernel.h"
#include "runtime/run_facts.h"
#include "runtime/try_automatic.h"
#include "schedule/common/kernel_rules.h"
#include "schedule/table.h"

namespace nvfuser::host {
namespace {

bool asks_for_cut(const Expr* expr) {
  const auto* copy = expr->as<LoadStoreOp>();
  return copy != nullptr && copy->op == LoadStoreOpType::SegmenterSet;
}

/// How a fusion runs that is not cut; no value: no scheduler takes it whole.
std::optional<SegmentKind> kind_of_whole(
    const schedule::FusionSummary& summary,
    const schedule::RunFacts& facts,
    Candidates& candidates) {
  if (!schedule::find_refusal(SchedulerType::expr_eval, summary, facts)) {
    const bool is_library = std::ranges::any_of(
        summary.exprs(), [](const Expr* e) { return schedule::is_for_library(e); });
    if (!is_library) {
      return SegmentKind::View;
    }
    return candidates.at(0) == nullptr ? SegmentKind::Evaluated : SegmentKind::Kernel;
  }
  return candidates.at(0) == nullptr ? std::nullopt : std::optional(SegmentKind::Kernel);
}

/// Whether schedulers take a fusion, and none of what they propose is of use.
bool are_unusable(Candidates& candidates, const segment::UnusableParams& unusable) {
  for (size_t i = 0;; ++i) {
    const Candidates::Params params = candidates.at(i);
    if (params == nullptr) {
      return i > 0;
    }
    if (unusable.find(*params) == nullptr) {
      return false;
    }
  }
}

PlannedPieces pieces_of(std::shared_ptr<const SegmentedFusion> plan) {
  PlannedPieces pieces{
      .complete = plan->complete_fusion(),
      .partition = partition_of(*plan),
      .candidates = {},
      .cut = nullptr};
  for (Piece& piece : pieces.partition.pieces) { // candidates look at the fusions of the plan
    piece.fusion = piece.fusion->clone();
  }
  for (const SegmentedGroup& group : plan->groups()) {
    pieces.candidates.push_back(
        group.kind == SegmentKind::Evaluated
            ? std::make_shared<Candidates>()
            : std::make_shared<Candidates>(
                  group.fusion, group.summarized, group.facts, group.params, group.scheduler));
  }
  for (const LateUpdate& update : plan->late_updates()) {
    pieces.candidates.push_back(
        std::make_shared<Candidates>(
            std::make_shared<SummarizedFusion>(update.fusion), update.facts));
  }
  pieces.cut = std::move(plan);
  return pieces;
}

PlannedPieces one_piece(
    const std::shared_ptr<Fusion>& fusion,
    SegmentKind kind,
    std::shared_ptr<Candidates> candidates = std::make_shared<Candidates>()) {
  return {
      .complete = fusion,
      .partition = whole(fusion, kind),
      .candidates = {std::move(candidates)},
      .cut = nullptr};
}

/// The definition after the passes. One that has a schedule is only copied.
std::shared_ptr<Fusion> optimized(const Fusion& definition) {
  auto result =
      try_automatic([&] { return OptimizedFusion::try_optimize(definition, OptimizeOptions()); });
  auto* made = std::get_if<std::shared_ptr<OptimizedFusion>>(&result);
  return made == nullptr ? definition.clone() : std::move(*made);
}

std::vector<int64_t> arguments_of(const Fusion& fusion) {
  if (const auto* made = dynamic_cast<const OptimizedFusion*>(&fusion)) {
    return made->arguments();
  }
  std::vector<int64_t> arguments(fusion.inputs().size());
  std::iota(arguments.begin(), arguments.end(), 0);
  return arguments;
}

/// A kernel writes no host memory: outputs there are computed apart from those on a device.
bool has_outputs_of_two_devices(const Fusion& fusion) {
  const auto is_on_host = [](const Val* output) {
    return output->is_tensor() && static_cast<const TensorView*>(output)->is_cpu_scalar();
  };
  return std::ranges::any_of(fusion.outputs(), is_on_host) &&
         !std::ranges::all_of(fusion.outputs(), is_on_host);
}

/// Elements of half a byte are stored in pairs: a tensor of an odd size can be computed with, but
/// not be left in memory for another piece.
bool stores_half_bytes(const SegmentedFusion& plan) {
  const auto is_stored_between = [](const Val* output) {
    return output->dtype() == DataType::Float4_e2m1fn && !output->is_fusion_output();
  };
  return std::ranges::any_of(plan.groups(), [&](const SegmentedGroup& group) {
    return std::ranges::any_of(group.outputs, is_stored_between);
  });
}

} // namespace

PiecePlanner::Known::Known(const Fusion& fusion, bool is_cuda)
    : definition(fusion.clone()),
      equal_dims(equal_input_dims(*definition)),
      parts(split_host_scalars(optimized(fusion), is_cuda)),
      complete(parts.others),
      arguments(arguments_of(*parts.whole)),
      whole(std::make_shared<SummarizedFusion>(complete->clone())),
      complete_equal_dims(equal_input_dims(*whole->fusion)),
      may_be_whole(
          std::ranges::none_of(whole->summary.exprs(), asks_for_cut) &&
          !has_outputs_of_two_devices(*complete)) {}

PiecePlanner::PiecePlanner(std::shared_ptr<Fusion> fusion, bool is_by_hand)
    : fusion_(std::move(fusion)), is_by_hand_(is_by_hand) {}

PlannedPieces PiecePlanner::plan(std::span<const Argument> args, Device device) {
  return value_or_throw(try_plan(args, device));
}

std::variant<PlannedPieces, Refusal> PiecePlanner::try_plan(
    std::span<const Argument> args, Device device) {
  if (is_by_hand_) {
    PlannedPieces pieces = one_piece(fusion_, SegmentKind::Kernel);
    number_random_tensors(pieces.partition, *fusion_);
    return pieces;
  }
  const std::lock_guard lock(mutex_);
  std::optional<Known>& slot = known_[device.is_cuda() ? 1 : 0];
  if (!slot) {
    if (std::optional<Refusal> refusal = find_undefined_tensor(*fusion_)) {
      return *std::move(refusal);
    }
    const TraceSpan span("summarize");
    slot.emplace(*fusion_, device.is_cuda());
  }
  Known& known = *slot;
  // Passes replace sizes by equal ones: what does not fit is told in terms of the definition.
  auto facts = try_find_run_facts(*known.definition, args, known.equal_dims, target_of(device));
  if (auto* refusal = std::get_if<Refusal>(&facts)) {
    return std::move(*refusal);
  }
  std::vector<Argument> bound;
  for (const int64_t argument : known.arguments) {
    bound.push_back(args[static_cast<size_t>(argument)]);
  }
  PlannedPieces pieces =
      cut(known, std::make_shared<schedule::RunFacts>(find_run_facts(
                     *known.whole->fusion, bound, known.complete_equal_dims, target_of(device))));
  if (known.parts.scalars != nullptr) {
    add_host_scalars(pieces.partition, known.parts);
    pieces.candidates.push_back(std::make_shared<Candidates>());
  }
  bind_inputs(pieces.partition, known.arguments, args.size());
  number_random_tensors(pieces.partition, *known.definition);
  return pieces;
}

bool PiecePlanner::note_unusable(
    const SegmentedFusion* cut, const std::vector<UnusableProposal>& proposals, Device device) {
  const std::lock_guard lock(mutex_);
  std::optional<Known>& known = known_[device.is_cuda() ? 1 : 0];
  bool is_news = false;
  for (const UnusableProposal& proposal : proposals) {
    if (!known) {
      continue; // scheduled by hand
    }
    if (cut == nullptr) {
      is_news = known->unusable.note(*proposal.params, proposal.refusal) || is_news;
    } else if (proposal.piece < cut->groups().size()) {
      const auto& group = cut->groups()[proposal.piece].summarized;
      is_news = (group != nullptr &&
                 known->groups.note_unusable(*group, *proposal.params, proposal.refusal)) ||
                is_news;
    }
  }
  if (is_news) {
    known->has_unusable = true;
  }
  return is_news;
}

bool PiecePlanner::has_unusable(Device device) {
  const std::lock_guard lock(mutex_);
  const std::optional<Known>& known = known_[device.is_cuda() ? 1 : 0];
  return known && known->has_unusable;
}

bool PiecePlanner::has_planned(Device device) {
  const std::lock_guard lock(mutex_);
  return known_[device.is_cuda() ? 1 : 0].has_value();
}

PlannedPieces PiecePlanner::cut(Known& known, std::shared_ptr<const schedule::RunFacts> facts) {
  if (!known.parts.has_others()) {
    return {.complete = known.complete, .partition = {}, .candidates = {}, .cut = nullptr};
  }
  if (known.may_be_whole) {
    auto candidates = std::make_shared<Candidates>(known.whole, facts);
    const auto kind = kind_of_whole(known.whole->summary, *facts, *candidates);
    if (kind && !are_unusable(*candidates, known.unusable)) {
      return one_piece(known.complete, *kind, std::move(candidates));
    }
  }
  auto found = try_automatic(
      [&] { return SegmentedFusion::try_segment(known.whole->fusion, *facts, known.groups); });
  if (std::holds_alternative<Refusal>(found)) { // it has a schedule
    return one_piece(known.complete, SegmentKind::Kernel);
  }
  auto plan = std::get<std::shared_ptr<const SegmentedFusion>>(std::move(found));
  if (plan->groups().empty()) { // all outputs are inputs
    return one_piece(known.complete, SegmentKind::View);
  }
  return stores_half_bytes(*plan) ? one_piece(known.complete, SegmentKind::Kernel)
                                  : pieces_of(std::move(plan));
}

} // namespace nvfuser::host
