#include "host/piece_ways.h"

#include <algorithm>

#include "base/errors.h"
#include "base/options.h"
#include "ir/equality.h"
#include "optimize/optimized_fusion.h"
#include "runtime/kernel_executor.h"
#include "schedule/table.h"
#include "schedule/trivial.h"

namespace nvfuser::host {
namespace {

using Cause = KernelRefusal::Cause;

KernelRefusal refused_schedule(Refusal refusal) {
  return {std::move(refusal), Cause::Schedule};
}

std::string text_of(const KernelRefusal& refusal) {
  return refusal.refusal.report.str();
}

} // namespace

PieceWays::PieceWays(
    Piece piece, Candidates candidates, const KernelIdentity& identity, bool is_by_hand)
    : piece_(std::move(piece)), candidates_(std::move(candidates)), identity_(identity) {
  if (is_by_hand) {
    kinds_ = {Way::Kind::ByHand};
  } else {
    kinds_.assign(candidates_.size(), Way::Kind::Scheduled);
    kinds_.push_back(Way::Kind::Trivial);
    kinds_.push_back(Way::Kind::Optimized);
  }
  kinds_.push_back(Way::Kind::Evaluated);
  ways_.resize(kinds_.size());
}

bool PieceWays::serves(const Candidates& candidates) const {
  const size_t used = num_refused_.load();
  const bool has_candidate = used < candidates_.size();
  const size_t compared = has_candidate ? used + 1 : used;
  if (candidates.size() < compared || (!has_candidate && candidates.size() > compared)) {
    return false;
  }
  return std::equal(
      candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(compared),
      candidates.begin(), [](const auto& mine, const auto& other) { return *mine == *other; });
}

// ---- Choosing -----------------------------------------------------------------------------------

size_t PieceWays::find_way(size_t first, Device device, Evaluator& evaluator) {
  for (size_t number = first;;) {
    if (kinds_[number] == Way::Kind::Evaluated) {
      check_evaluation_serves(evaluator);
    }
    if (!ways_[number]) {
      ways_[number] = try_make(number, device);
    }
    if (std::holds_alternative<Way>(*ways_[number])) {
      return number;
    }
    const KernelRefusal& refusal = std::get<KernelRefusal>(*ways_[number]);
    note_refused(number);
    number = number_behind(number, refusal);
  }
}

void PieceWays::note_refused(size_t number) {
  if (kinds_[number] == Way::Kind::Scheduled && number == num_refused_) {
    ++num_refused_;
  }
}

size_t PieceWays::find_way_behind(
    size_t number, const KernelRefusal& refusal, Device device, Evaluator& evaluator) {
  const size_t next = number_behind(number, refusal);
  if (refusal.cause != Cause::Launch) { // there is none for other sizes either
    ways_[number] = refusal;
    note_refused(number);
  }
  return find_way(next, device, evaluator);
}

bool PieceWays::may_replace(Way::Kind refused, const KernelRefusal& refusal) const {
  const bool lacks_form = refusal.refusal.kind == ErrorKind::NotImplemented;
  switch (refused) {
    case Way::Kind::Scheduled: return true;
    case Way::Kind::ByHand: return lacks_form;
    // The automatic schedule is ours: where it cannot be lowered, the user did nothing wrong.
    case Way::Kind::Trivial:
      return lacks_form ||
             (refusal.cause == Cause::Schedule && !schedule::find_scheduled_tensor(*piece_.fusion));
    case Way::Kind::Optimized: return lacks_form || refusal.cause == Cause::Schedule;
    case Way::Kind::Evaluated: return false;
  }
  return false;
}

size_t PieceWays::number_behind(size_t number, const KernelRefusal& refusal) {
  const Way::Kind refused = kinds_[number];
  // The trivial schedule says best why there is no kernel: the user's own expressions are in it.
  if (refused != Way::Kind::Scheduled && refused != Way::Kind::Optimized) {
    why_ = refusal;
  }
  if (!may_replace(refused, refusal)) {
    throw_refusal(refusal);
  }
  const bool is_of_compiler =
      refusal.cause == Cause::NoCompiler || refusal.cause == Cause::CompilerFailure;
  if (refused == Way::Kind::Scheduled && refusal.cause == Cause::Launch) {
    return candidates_.size(); // the other candidates were proposed for other sizes
  }
  if (!is_of_compiler && refusal.cause != Cause::Launch) {
    return number + 1;
  }
  why_ = refusal;
  if (refusal.cause == Cause::CompilerFailure) {
    warning_ = "The fusion is evaluated through PyTorch instead of running as a kernel: " +
               text_of(refusal);
  }
  return kinds_.size() - 1;
}

void PieceWays::check_evaluation_serves(Evaluator& evaluator) {
  NVF_INVARIANT(why_.has_value(), "what is evaluated has no kernel");
  if (has_option(DisableOption::Fallback)) {
    throw_refusal(*why_);
  }
  if (const std::optional<Refusal> unavailable = evaluator.find_unavailable()) {
    throw UserError(
        Part(text_of(*why_), "\n", unavailable->report.str()), ErrorKind::NotImplemented);
  }
}

// ---- Making -------------------------------------------------------------------------------------

PieceWays::Tried PieceWays::try_make(size_t number, Device device) const {
  switch (kinds_[number]) {
    case Way::Kind::Scheduled: return try_scheduled(*candidates_[number], device);
    case Way::Kind::Trivial: return try_trivial(device);
    case Way::Kind::Optimized: return try_optimized(device);
    case Way::Kind::ByHand:
      return try_kernel(
          {Way::Kind::ByHand, nullptr, piece_.inputs},
          std::make_shared<ScheduledFusion>(*piece_.fusion), device);
    case Way::Kind::Evaluated: break;
  }
  return Way{Way::Kind::Evaluated, nullptr, piece_.inputs};
}

PieceWays::Tried PieceWays::try_scheduled(const HeuristicParams& params, Device device) const {
  const std::shared_ptr<Fusion> scheduled = piece_.fusion->clone();
  schedule::FusionSummary summary(*scheduled);
  schedule::schedule(params.scheduler_type(), summary, params);
  return try_kernel(
      {Way::Kind::Scheduled, nullptr, piece_.inputs}, std::make_shared<ScheduledFusion>(*scheduled),
      device, params.scheduler_type());
}

PieceWays::Tried PieceWays::try_trivial(Device device) const {
  return try_kernel(
      {Way::Kind::Trivial, nullptr, piece_.inputs},
      std::make_shared<ScheduledFusion>(*piece_.fusion, "trivial", schedule::try_trivial), device);
}

PieceWays::Tried PieceWays::try_optimized(Device device) const {
  auto optimized = OptimizedFusion::try_optimize(*piece_.fusion);
  if (auto* refusal = std::get_if<Refusal>(&optimized)) {
    return refused_schedule(std::move(*refusal));
  }
  const auto& fusion = std::get<std::shared_ptr<OptimizedFusion>>(optimized);
  if (equal_up_to_numbering(*piece_.fusion, *fusion)) {
    return *why_; // it would be refused again
  }
  Way way{Way::Kind::Optimized, nullptr, {}};
  for (const int64_t argument : fusion->arguments()) {
    way.inputs.push_back(piece_.inputs.at(static_cast<size_t>(argument)));
  }
  if (std::optional<Refusal> refusal = schedule::try_trivial(*fusion)) {
    return refused_schedule(std::move(*refusal));
  }
  return try_kernel(std::move(way), std::make_shared<ScheduledFusion>(*fusion), device);
}

PieceWays::Tried PieceWays::try_kernel(
    Way way,
    std::shared_ptr<const ScheduledFusion> scheduled,
    Device device,
    SchedulerType scheduler) const {
  if (std::optional<Refusal> refusal = find_unsupported(*scheduled->definition())) {
    return refused_schedule(std::move(*refusal));
  }
  KernelIdentity identity = identity_;
  identity.scheduler = scheduler;
  way.kernel = std::make_shared<KernelProgram>(
      std::move(scheduled), identity, LaunchParams(), CompileParams());
  if (std::optional<KernelRefusal> refusal = way.kernel->find_no_kernel(device)) {
    return std::move(*refusal);
  }
  return way;
}

} // namespace nvfuser::host
