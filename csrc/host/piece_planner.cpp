#include "host/piece_planner.h"

#include "runtime/compiled_kernel.h"
#include "runtime/run_facts.h"
#include "schedule/table.h"

namespace nvfuser::host {
namespace {

/// The params of all schedulers that make a kernel of the fusion. What is evaluated, or seen as a
/// view, has a row of the table too.
Candidates find_candidates(
    const schedule::FusionSummary& summary, const schedule::RunFacts& facts) {
  Candidates candidates;
  for (const schedule::Scheduler& scheduler : schedule::schedulers()) {
    const bool makes_kernel = scheduler.type != SchedulerType::expr_eval;
    if (makes_kernel && !schedule::find_refusal(scheduler.type, summary, facts)) {
      candidates.push_back(scheduler.compute_heuristics(summary, facts));
    }
  }
  return candidates;
}

} // namespace

PiecePlanner::PiecePlanner(std::shared_ptr<Fusion> fusion, bool is_by_hand)
    : fusion_(std::move(fusion)), is_by_hand_(is_by_hand) {}

PlannedPieces PiecePlanner::plan(std::span<const Argument> args, Device device) {
  if (is_by_hand_) {
    return {whole(fusion_), {{}}};
  }
  const std::lock_guard lock(mutex_);
  if (!known_) {
    known_.emplace(*fusion_);
  }
  const schedule::RunFacts facts =
      find_run_facts(*known_->copy, args, known_->equal_dims, target_of(device));
  return {whole(fusion_), {find_candidates(known_->summary, facts)}};
}

} // namespace nvfuser::host
