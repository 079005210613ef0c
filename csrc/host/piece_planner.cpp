#include "host/piece_planner.h"

#include <numeric>
#include <unordered_map>

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
#include "segment/stored_types.h"

namespace nvfuser::host {
namespace {

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

/// The segment of a plan that is not cut. `complete`: the fusion as it was copied for the plan.
PlannedPieces whole_of(const SegmentedFusion& plan, const std::shared_ptr<Fusion>& complete) {
  const SegmentedGroup& group = plan.groups().front();
  return one_piece(
      complete, group.kind,
      std::make_shared<Candidates>(
          nullptr, group.summarized, group.facts, group.params, group.scheduler, group.rejections));
}

/// Elements of half a byte lie in pairs, which libraries make and read as they are: a tensor of
/// them is stored as another type between kernels, and does not cross to or from a library.
bool passes_half_bytes_to_library(const SegmentedFusion& plan) {
  const auto is_passed = [](const Val* output) {
    return output->dtype() == DataType::Float4_e2m1fn && !output->is_fusion_output();
  };
  const auto is_read = [](const Val* input) {
    return input->dtype() == DataType::Float4_e2m1fn && !input->is_fusion_input();
  };
  return std::ranges::any_of(plan.groups(), [&](const SegmentedGroup& group) {
    return group.kind == SegmentKind::Evaluated && (std::ranges::any_of(group.outputs, is_passed) ||
                                                    std::ranges::any_of(group.inputs, is_read));
  });
}

/// The tensors of `fusion` with the names of those that hints speak of, as far as passes left them.
segment::Hints hints_in(const Fusion& fusion, const CutHints& hints) {
  std::unordered_map<int64_t, TensorView*> tensor_of; // by name; only looked up
  for (TensorView* tensor : fusion.tensors()) {
    tensor_of.emplace(tensor->name(), tensor);
  }
  const auto tensors_with = [&](const std::vector<int64_t>& names) {
    std::vector<TensorView*> tensors;
    for (const int64_t name : names) {
      if (const auto found = tensor_of.find(name); found != tensor_of.end()) {
        tensors.push_back(found->second);
      }
    }
    return tensors;
  };
  segment::Hints result{.cuts = tensors_with(hints.cuts)};
  for (const std::vector<int64_t>& together : hints.together) {
    result.together.push_back(tensors_with(together));
  }
  return result;
}

} // namespace

PiecePlanner::Known::Known(const Fusion& fusion, bool is_cuda, const CutHints& cut_hints)
    : definition(fusion.clone()),
      equal_dims(equal_input_dims(*definition)),
      parts(split_host_scalars(optimized(fusion), is_cuda)),
      complete(parts.others),
      arguments(arguments_of(*parts.whole)),
      to_cut(complete->clone()),
      to_cut_equal_dims(equal_input_dims(*to_cut)),
      hints(hints_in(*to_cut, cut_hints)) {}

PiecePlanner::PiecePlanner(std::shared_ptr<Fusion> fusion, bool is_by_hand, CutHints hints)
    : fusion_(std::move(fusion)), is_by_hand_(is_by_hand), hints_(std::move(hints)) {}

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
    slot.emplace(*fusion_, device.is_cuda(), hints_);
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
  auto found =
      cut(known, find_run_facts(*known.to_cut, bound, known.to_cut_equal_dims, target_of(device)));
  if (std::holds_alternative<Refusal>(found)) {
    return found;
  }
  auto& pieces = std::get<PlannedPieces>(found);
  if (known.parts.scalars != nullptr) {
    add_host_scalars(pieces.partition, known.parts);
    pieces.candidates.push_back(std::make_shared<Candidates>());
  }
  bind_inputs(pieces.partition, known.arguments, args.size());
  number_random_tensors(pieces.partition, *known.definition);
  return found;
}

bool PiecePlanner::note_unusable(
    const SegmentedFusion* cut, const std::vector<UnusableProposal>& proposals, Device device) {
  const std::lock_guard lock(mutex_);
  std::optional<Known>& known = known_[device.is_cuda() ? 1 : 0];
  bool is_news = false;
  for (const UnusableProposal& proposal : proposals) {
    const bool is_of_segment = cut == nullptr || proposal.piece < cut->groups().size();
    if (!known || !is_of_segment) {
      continue; // scheduled by hand; a copy at the end
    }
    const auto& group = cut == nullptr ? known->groups.find_whole(known->to_cut).summarized
                                       : cut->groups()[proposal.piece].summarized;
    is_news = (group != nullptr &&
               known->groups.note_unusable(*group, *proposal.params, proposal.refusal)) ||
              is_news;
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

std::variant<PlannedPieces, Refusal> PiecePlanner::cut(
    Known& known, const schedule::RunFacts& facts) {
  if (!known.parts.has_others()) {
    return PlannedPieces{
        .complete = known.complete, .partition = {}, .candidates = {}, .cut = nullptr};
  }
  if (auto refusal = segment::find_two_lower_types(*known.to_cut)) {
    return *std::move(refusal);
  }
  auto found = try_automatic(
      [&] { return SegmentedFusion::try_segment(known.to_cut, facts, known.groups, known.hints); });
  if (auto* refusal = std::get_if<Refusal>(&found)) {
    if (!known.hints.empty()) {
      return std::move(*refusal);
    }
    return one_piece(known.complete, SegmentKind::Kernel); // it has a schedule
  }
  auto plan = std::get<std::shared_ptr<const SegmentedFusion>>(std::move(found));
  if (plan->groups().empty()) { // all outputs are inputs
    return one_piece(known.complete, SegmentKind::View);
  }
  if (passes_half_bytes_to_library(*plan)) {
    return one_piece(known.complete, SegmentKind::Kernel);
  }
  return plan->is_whole() ? whole_of(*plan, known.complete) : pieces_of(std::move(plan));
}

} // namespace nvfuser::host
