#include "host/piece_ways.h"

#include <algorithm>

#include "base/errors.h"
#include "base/options.h"
#include "ir/all_nodes.h"
#include "ir/equality.h"
#include "runtime/kernel_executor.h"
#include "schedule/common/kernel_rules.h"
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

/// "matmul: .., reduction: ..": the answers of all schedulers.
std::string answers_of_schedulers(const Fusion& fusion) {
  const std::shared_ptr<Fusion> copy = fusion.clone();
  const schedule::FusionSummary summary(*copy);
  std::string text;
  for (const schedule::Scheduler& scheduler : schedule::schedulers()) {
    const auto refusal = scheduler.find_refusal_by_structure(summary);
    if (refusal && scheduler.type != SchedulerType::expr_eval) {
      text += "\n    " + schedule::rejection_text(scheduler.type, *refusal);
    }
  }
  return text;
}

/// The name of what a scheduler makes of a piece.
std::string name_of(const HeuristicParams& params) {
  return std::string(enum_name(params.scheduler_type())) + " " + std::to_string(params.hash());
}

/// A user asked for products in generated kernels, and for none by a library.
void check_has_no_product(const Fusion& fusion) {
  for (const Expr* expr : fusion.exprs()) {
    if (schedule::is_product(expr)) {
      throw UserError(
          {.headline = "Can not find a scheduler to schedule fusion segment",
           .node = describe(expr->outputs().front()),
           .expected = "a scheduler that makes a kernel of it: fuse_matmul is enabled, and "
                       "matmul_expr_eval is disabled",
           .found = answers_of_schedulers(fusion),
           .fix = "leave one of the two options as it is: a library computes the product then"});
    }
  }
}

std::vector<Way::Kind> ways_of(const Piece& piece, bool is_by_hand) {
  using Kind = Way::Kind;
  if (is_by_hand) {
    return {Kind::ByHand, Kind::Evaluated, Kind::Given};
  }
  if (piece.kind == SegmentKind::Evaluated) {
    return {Kind::Trivial, Kind::Evaluated, Kind::Given};
  }
  std::vector<Kind> kinds;
  if (piece.kind == SegmentKind::View) {
    kinds.push_back(Kind::View);
  }
  kinds.insert(kinds.end(), schedule::schedulers().size(), Kind::Scheduled);
  kinds.insert(kinds.end(), {Kind::Trivial, Kind::Evaluated, Kind::Given});
  return kinds;
}

} // namespace

const char* to_string(Way::Kind kind) {
  switch (kind) {
    case Way::Kind::View: return "view";
    case Way::Kind::Scheduled: return "scheduled";
    case Way::Kind::Trivial: return "trivial";
    case Way::Kind::ByHand: return "by hand";
    case Way::Kind::Evaluated: return "evaluated";
    case Way::Kind::Given: return "given";
  }
  return "";
}

PieceWays::PieceWays(
    Piece piece,
    std::shared_ptr<Candidates> candidates,
    const KernelIdentity& identity,
    bool is_by_hand)
    : piece_(std::move(piece)),
      candidates_(std::move(candidates)),
      identity_(identity),
      kinds_(ways_of(piece_, is_by_hand)),
      ways_(kinds_.size()) {}

bool PieceWays::is_like(const Piece& piece, Candidates& candidates) const {
  if (piece.kind != piece_.kind || piece.inputs.size() != piece_.inputs.size()) {
    return false;
  }
  const Candidates::Params own = candidates_->at(0);
  const Candidates::Params other = candidates.at(0);
  const bool have_params = own != nullptr && other != nullptr;
  return (have_params ? *own == *other : own == other) &&
         equal_up_to_numbering(*piece_.fusion, *piece.fusion);
}

std::optional<PieceWays::TwoParams> PieceWays::find_first_difference(Candidates& candidates) const {
  if (kinds_.front() == Way::Kind::View && !is_view_refused_.load()) {
    return std::nullopt;
  }
  const size_t num_compared = num_refused_.load() + 1;
  for (size_t i = 0; i < num_compared; ++i) {
    const Candidates::Params own = candidates_->at(i);
    const Candidates::Params other = candidates.at(i);
    if (own == nullptr && other == nullptr) {
      return std::nullopt;
    }
    if (own == nullptr || other == nullptr || *own != *other) {
      return TwoParams{.own = own, .other = other};
    }
  }
  return std::nullopt;
}

bool PieceWays::serves(Candidates& candidates) const {
  return !find_first_difference(candidates);
}

std::optional<std::string> PieceWays::find_differences(Candidates& candidates) const {
  const std::optional<TwoParams> found = find_first_difference(candidates);
  if (!found) {
    return std::nullopt;
  }
  if (found->own != nullptr && found->other != nullptr) {
    return found->other->differences_from(*found->own);
  }
  const auto name_of = [](const Candidates::Params& params) -> std::string {
    return params == nullptr ? "no scheduler" : enum_name(params->scheduler_type());
  };
  return name_of(found->other) + " instead of " + name_of(found->own);
}

PieceReport PieceWays::report_of(size_t number) const {
  PieceReport report{
      .fusion = piece_.fusion,
      .way = way(number),
      .refused = {},
      .rejections = candidates_->rejections(),
      .proposed = candidates_->at(0),
      .origin = number == given() ? given_origin_ : ""};
  if (report.way.kind == Way::Kind::Scheduled && report.way.params == nullptr) { // remembered
    report.way.params = candidates_->at(candidate_of(number));
  }
  for (size_t i = 0; i < number; ++i) {
    if (ways_[i] && std::holds_alternative<KernelRefusal>(*ways_[i])) {
      const bool has_scheduler = kinds_[i] == Way::Kind::Scheduled;
      report.refused.push_back(
          {.kind = kinds_[i],
           .scheduler = has_scheduler ? candidates_->at(candidate_of(i))->scheduler_type()
                                      : SchedulerType::none,
           .refusal = std::get<KernelRefusal>(*ways_[i]),
           .params = has_scheduler ? candidates_->at(candidate_of(i)) : nullptr});
    }
  }
  return report;
}

// ---- Choosing -----------------------------------------------------------------------------------

size_t PieceWays::candidate_of(size_t number) const {
  return kinds_.front() == Way::Kind::View ? number - 1 : number;
}

size_t PieceWays::number_behind_schedulers() const {
  const auto next = std::ranges::find(kinds_, Way::Kind::Trivial);
  return static_cast<size_t>(next - kinds_.begin());
}

size_t PieceWays::find_way(size_t first, Device device, Evaluator& evaluator) {
  for (size_t number = first;;) {
    if (kinds_[number] == Way::Kind::Evaluated) {
      const bool is_remembered = number == first_ && first_ > 0 && !why_;
      if (is_remembered && evaluator.find_unavailable()) {
        number = first_ = 0; // to say why there is no kernel
        continue;
      }
      if (!is_remembered) {
        check_evaluation_serves(evaluator);
      }
    }
    if (!ways_[number]) {
      ways_[number] = try_make(number, device);
    }
    if (!ways_[number]) {
      number = number_behind_schedulers();
    } else if (const auto* refusal = std::get_if<KernelRefusal>(&*ways_[number])) {
      note_refused(number);
      number = number_behind(number, *refusal);
    } else {
      return number;
    }
  }
}

void PieceWays::note_refused(size_t number) {
  if (kinds_[number] == Way::Kind::View) {
    is_view_refused_ = true;
  }
  if (kinds_[number] == Way::Kind::Scheduled && candidate_of(number) == num_refused_) {
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
    case Way::Kind::View:
    case Way::Kind::Scheduled: return true;
    case Way::Kind::ByHand: return lacks_form;
    // The automatic schedule is ours: where it cannot be lowered, the user did nothing wrong.
    case Way::Kind::Trivial:
      return lacks_form || refusal.cause == Cause::Source ||
             (refusal.cause == Cause::Schedule && !schedule::find_scheduled_tensor(*piece_.fusion));
    case Way::Kind::Evaluated: return false;
    case Way::Kind::Given: return refusal.cause == Cause::Launch; // other sizes have it
  }
  return false;
}

size_t PieceWays::number_behind(size_t number, const KernelRefusal& refusal) {
  const Way::Kind refused = kinds_[number];
  // The trivial schedule says best why there is no kernel: the user's own expressions are in it.
  if (refused == Way::Kind::Trivial || refused == Way::Kind::ByHand) {
    why_ = refusal;
  }
  if (!may_replace(refused, refusal)) {
    throw_refusal(refusal);
  }
  if (refused == Way::Kind::Given) {
    warning_ =
        "The schedule from " + given_origin_ +
        " does not run with these sizes, which are scheduled automatically: " + text_of(refusal);
    return 0;
  }
  const bool is_of_compiler = refusal.cause == Cause::NoCompiler ||
                              refusal.cause == Cause::CompilerFailure ||
                              (refusal.cause == Cause::Source && refused == Way::Kind::Trivial);
  if (refused == Way::Kind::Scheduled && refusal.cause == Cause::Launch) {
    return number_behind_schedulers(); // other candidates were proposed for other sizes
  }
  if (refused == Way::Kind::View || (!is_of_compiler && refusal.cause != Cause::Launch)) {
    return number + 1;
  }
  why_ = refusal;
  if (refusal.cause == Cause::CompilerFailure || refusal.cause == Cause::Source) {
    warning_ = "The fusion is evaluated through PyTorch instead of running as a kernel: " +
               text_of(refusal);
  }
  return number_of_evaluation();
}

void PieceWays::check_evaluation_serves(Evaluator& evaluator) {
  if (has_option(EnableOption::FuseMatmul) && has_option(DisableOption::MatmulExprEval)) {
    check_has_no_product(*piece_.fusion);
  }
  NVF_INVARIANT(why_.has_value(), "what is evaluated has no kernel");
  if (has_option(DisableOption::Fallback)) {
    throw_refusal(*why_);
  }
  if (const std::optional<Refusal> unavailable = evaluator.find_unavailable()) {
    throw UserError(
        Part(text_of(*why_), "\n", unavailable->report.str()), ErrorKind::NotImplemented);
  }
}

// ---- Ways of earlier runs -----------------------------------------------------------------------

bool PieceWays::remember(const RememberedWay& way, Device device) {
  if (way.number >= kinds_.size() || kinds_[way.number] != way.kind) {
    return false;
  }
  std::optional<Tried> tried;
  if (way.kind == Way::Kind::Scheduled) {
    const auto apply = [candidates = candidates_, place = candidate_of(way.number)](
                           Fusion& fusion) -> std::optional<Refusal> {
      const Candidates::Params params = candidates->at(place);
      NVF_INVARIANT(params != nullptr, "a plan that is made again is the same");
      schedule::FusionSummary summary(fusion);
      schedule::schedule(params->scheduler_type(), summary, *params);
      return std::nullopt;
    };
    tried = try_kernel(
        {Way::Kind::Scheduled},
        std::make_shared<ScheduledFusion>(*piece_.fusion, way.schedule, apply), device, way.params,
        way.scheduler);
  } else {
    tried = try_make(way.number, device);
  }
  if (!tried || std::holds_alternative<KernelRefusal>(*tried)) {
    return false;
  }
  ways_[way.number] = std::move(tried);
  first_ = way.number;
  decisions_ = way.decisions;
  is_view_refused_ = kinds_.front() == Way::Kind::View && first_ > 0;
  num_refused_ = way.kind == Way::Kind::Scheduled ? candidate_of(first_) : kinds_.size();
  return true;
}

std::optional<RememberedWay> PieceWays::memory_of(size_t number) const {
  const Way& way = this->way(number);
  RememberedWay memory{
      .kind = way.kind,
      .number = number,
      .scheduler = {},
      .schedule = {},
      .params = {},
      .decisions = {}};
  switch (way.kind) {
    case Way::Kind::ByHand:
    case Way::Kind::Given: return std::nullopt;
    case Way::Kind::Scheduled:
      if (way.params == nullptr || !way.params->cparams.include_paths.empty()) {
        return std::nullopt;
      }
      memory.scheduler = way.params->scheduler_type();
      memory.schedule = name_of(*way.params);
      memory.params = way.params->cparams;
      break;
    case Way::Kind::View:
    case Way::Kind::Trivial:
    case Way::Kind::Evaluated: break;
  }
  return memory;
}

void PieceWays::recall_refusals(size_t number, Device device) {
  for (size_t i = 0; i < std::min(first_, number); ++i) {
    if (!ways_[i] && kinds_[i] != Way::Kind::View) {
      ways_[i] = try_make(i, device);
    }
  }
}

// ---- Schedules of users -------------------------------------------------------------------------

std::optional<KernelRefusal> PieceWays::use(const HandSchedule* schedule, Device device) {
  if (schedule == nullptr) {
    ways_[given()] = std::nullopt;
    return std::nullopt;
  }
  Tried tried = try_kernel(
      {Way::Kind::Given}, std::make_shared<ScheduledFusion>(*schedule->fusion), device,
      schedule->compile_params);
  if (auto* refusal = std::get_if<KernelRefusal>(&tried)) {
    return std::move(*refusal);
  }
  ways_[given()] = std::move(tried);
  given_origin_ = schedule->origin;
  return std::nullopt;
}

// ---- Making -------------------------------------------------------------------------------------

std::optional<PieceWays::Tried> PieceWays::try_make(size_t number, Device device) const {
  switch (kinds_[number]) {
    case Way::Kind::Scheduled: {
      const Candidates::Params params = candidates_->at(candidate_of(number));
      if (params == nullptr) {
        return std::nullopt;
      }
      return try_scheduled(params, device);
    }
    case Way::Kind::Trivial: return try_trivial(device);
    case Way::Kind::ByHand:
      return try_kernel(
          {Way::Kind::ByHand}, std::make_shared<ScheduledFusion>(*piece_.fusion), device);
    case Way::Kind::View:
    case Way::Kind::Evaluated:
    case Way::Kind::Given: break;
  }
  return Way{kinds_[number]};
}

PieceWays::Tried PieceWays::try_scheduled(const Candidates::Params& params, Device device) const {
  const auto apply = [params](Fusion& fusion) -> std::optional<Refusal> {
    schedule::FusionSummary summary(fusion);
    schedule::schedule(params->scheduler_type(), summary, *params);
    return std::nullopt;
  };
  return try_kernel(
      {Way::Kind::Scheduled, nullptr, params},
      std::make_shared<ScheduledFusion>(*piece_.fusion, name_of(*params), apply), device,
      params->cparams);
}

PieceWays::Tried PieceWays::try_trivial(Device device) const {
  return try_kernel(
      {Way::Kind::Trivial},
      std::make_shared<ScheduledFusion>(*piece_.fusion, "trivial", schedule::try_trivial), device);
}

PieceWays::Tried PieceWays::try_kernel(
    Way way,
    std::shared_ptr<const ScheduledFusion> scheduled,
    Device device,
    const CompileParams& params,
    SchedulerType scheduler) const {
  if (std::optional<Refusal> refusal = find_unsupported(*scheduled->definition())) {
    return refused_schedule(std::move(*refusal));
  }
  KernelIdentity identity = identity_;
  identity.scheduler = way.params == nullptr ? scheduler : way.params->scheduler_type();
  way.kernel =
      std::make_shared<KernelProgram>(std::move(scheduled), identity, LaunchParams(), params);
  if (std::optional<KernelRefusal> refusal = way.kernel->find_no_kernel(device)) {
    return std::move(*refusal);
  }
  return way;
}

} // namespace nvfuser::host
