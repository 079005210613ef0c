#include "host/piece_planner.h"

#include <algorithm>

#include "base/errors.h"
#include "host/segments.h"
#include "ir/all_nodes.h"
#include "runtime/compiled_kernel.h"
#include "runtime/run_facts.h"
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
    return is_library ? SegmentKind::Evaluated : SegmentKind::View;
  }
  if (candidates.at(0) != nullptr) {
    return SegmentKind::Kernel;
  }
  return std::nullopt;
}

PlannedPieces pieces_of(std::shared_ptr<const SegmentedFusion> plan) {
  PlannedPieces pieces{.partition = partition_of(*plan), .candidates = {}, .cut = nullptr};
  for (const SegmentedGroup& group : plan->groups()) {
    pieces.candidates.push_back(
        group.kind == SegmentKind::Evaluated
            ? std::make_shared<Candidates>()
            : std::make_shared<Candidates>(
                  group.fusion, group.facts, group.params, group.scheduler));
  }
  for (const LateUpdate& update : plan->late_updates()) {
    pieces.candidates.push_back(
        std::make_shared<Candidates>(
            std::make_shared<SummarizedFusion>(update.fusion), update.facts));
  }
  for (Piece& piece : pieces.partition.pieces) { // candidates look at the fusions of the plan
    piece.fusion = piece.fusion->clone();
  }
  pieces.cut = std::move(plan);
  return pieces;
}

} // namespace

PiecePlanner::Known::Known(const Fusion& fusion)
    : whole(std::make_shared<SummarizedFusion>(fusion.clone())),
      equal_dims(equal_input_dims(*whole->fusion)),
      may_be_whole(std::ranges::none_of(whole->summary.exprs(), asks_for_cut)) {}

PiecePlanner::PiecePlanner(std::shared_ptr<Fusion> fusion, bool is_by_hand)
    : fusion_(std::move(fusion)), is_by_hand_(is_by_hand) {}

PlannedPieces PiecePlanner::plan(std::span<const Argument> args, Device device) {
  if (is_by_hand_) {
    return {whole(fusion_), {std::make_shared<Candidates>()}, nullptr};
  }
  const std::lock_guard lock(mutex_);
  if (!known_) {
    known_.emplace(*fusion_);
  }
  auto facts = std::make_shared<schedule::RunFacts>(
      find_run_facts(*known_->whole->fusion, args, known_->equal_dims, target_of(device)));
  if (known_->may_be_whole) {
    auto candidates = std::make_shared<Candidates>(known_->whole, facts);
    if (const auto kind = kind_of_whole(known_->whole->summary, *facts, *candidates)) {
      return {whole(fusion_, *kind), {std::move(candidates)}, nullptr};
    }
  }
  auto plan = SegmentedFusion::try_segment(known_->whole->fusion, *facts);
  if (std::holds_alternative<Refusal>(plan)) { // it has a schedule
    return {whole(fusion_), {std::make_shared<Candidates>()}, nullptr};
  }
  auto cut = std::get<std::shared_ptr<const SegmentedFusion>>(std::move(plan));
  if (cut->groups().empty()) { // all outputs are inputs
    return {whole(fusion_, SegmentKind::View), {std::make_shared<Candidates>()}, nullptr};
  }
  return pieces_of(std::move(cut));
}

} // namespace nvfuser::host
