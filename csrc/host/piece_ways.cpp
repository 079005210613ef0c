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

bool Candidates::operator==(const Candidates& other) const {
  return std::ranges::equal(
      params, other.params, [](const auto& a, const auto& b) { return *a == *b; });
}

PieceWays::PieceWays(
    Piece piece, Candidates candidates, const KernelIdentity& identity, bool is_by_hand)
    : piece_(std::move(piece)), candidates_(std::move(candidates)), identity_(identity) {
  if (is_by_hand) {
    kinds_ = {Way::Kind::ByHand};
  } else {
    kinds_.assign(candidates_.params.size(), Way::Kind::Scheduled);
    kinds_.push_back(Way::Kind::Trivial);
    kinds_.push_back(Way::Kind::Optimized);
  }
  kinds_.push_back(Way::Kind::Evaluated);
  ways_.resize(kinds_.size());
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
    number = number_behind(number, std::get<KernelRefusal>(*ways_[number]));
  }
}

size_t PieceWays::find_way_behind(
    size_t number, const KernelRefusal& refusal, Device device, Evaluator& evaluator) {
  const size_t next = number_behind(number, refusal);
  if (refusal.cause != Cause::Launch) { // there is none for other sizes either
    ways_[number] = refusal;
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
  const bool is_last = refused != Way::Kind::Scheduled && refusal.cause == Cause::Launch;
  if (!is_of_compiler && !is_last) {
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
    case Way::Kind::Scheduled: return try_scheduled(*candidates_.params[number], device);
    case Way::Kind::Trivial: return try_trivial(device);
    case Way::Kind::Optimized: return try_optimized(device);
    case Way::Kind::ByHand:
      return try_kernel({Way::Kind::ByHand, nullptr, piece_.inputs}, *piece_.fusion, device);
    case Way::Kind::Evaluated: break;
  }
  return Way{Way::Kind::Evaluated, nullptr, piece_.inputs};
}

PieceWays::Tried PieceWays::try_scheduled(const HeuristicParams& params, Device device) const {
  const std::shared_ptr<Fusion> scheduled = piece_.fusion->clone();
  schedule::FusionSummary summary(*scheduled);
  schedule::schedule(params.scheduler_type(), summary, params);
  return try_kernel({Way::Kind::Scheduled, nullptr, piece_.inputs}, *scheduled, device);
}

PieceWays::Tried PieceWays::try_trivial(Device device) const {
  const std::shared_ptr<Fusion> scheduled = piece_.fusion->clone();
  if (std::optional<Refusal> refusal = schedule::try_trivial(*scheduled)) {
    return refused_schedule(std::move(*refusal));
  }
  return try_kernel({Way::Kind::Trivial, nullptr, piece_.inputs}, *scheduled, device);
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
  return try_kernel(std::move(way), *fusion, device);
}

PieceWays::Tried PieceWays::try_kernel(Way way, const Fusion& scheduled, Device device) const {
  if (std::optional<Refusal> refusal = find_unsupported(scheduled)) {
    return refused_schedule(std::move(*refusal));
  }
  way.kernel =
      std::make_shared<KernelProgram>(scheduled, identity_, LaunchParams(), CompileParams());
  if (std::optional<KernelRefusal> refusal = way.kernel->find_no_kernel(device)) {
    return std::move(*refusal);
  }
  return way;
}

} // namespace nvfuser::host
