#include "host/fusion_runtime.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/errors.h"
#include "codegen/codegen.h"
#include "host/explain.h"
#include "host/hand_schedules.h"
#include "host/side_by_side.h"
#include "host/tuned_schedules.h"
#include "ir/print.h"
#include "schedule/table.h"

namespace nvfuser::host {
namespace {

/// The piece that step `number` of a program computes: frees stand between those that compute.
size_t piece_of(const HostProgram& program, size_t number) {
  const auto& steps = program.steps();
  const auto end = steps.begin() + static_cast<std::ptrdiff_t>(number);
  return static_cast<size_t>(std::count_if(
      steps.begin(), end, [](const Step& step) { return !std::holds_alternative<Free>(step); }));
}

} // namespace

FusionRuntime::FusionRuntime(
    PlannedPieces pieces,
    size_t num_inputs,
    const KernelIdentity& identity,
    bool is_by_hand,
    Device device)
    : identity_(identity),
      num_inputs_(num_inputs),
      cut_(std::move(pieces.cut)),
      replan_(pieces.replan),
      outputs_(std::move(pieces.partition.outputs)),
      random_streams_(pieces.partition.random_streams) {
  for (size_t i = 0; i < pieces.candidates.size(); ++i) {
    add_piece(pieces, i, is_by_hand);
  }
  for (size_t i = 0; i < pieces.remembered.size(); ++i) {
    if (pieces.remembered[i].like == i) {
      // Where it cannot be made, the ways are tried as if nothing was known.
      static_cast<void>(pieces_[i].ways->remember(pieces.remembered[i].way, device));
    }
  }
}

void FusionRuntime::add_piece(PlannedPieces& pieces, size_t position, bool is_by_hand) {
  Piece& piece = pieces.partition.pieces[position];
  RuntimePiece made{
      .inputs = piece.inputs, .random_numbers = piece.random_numbers, .identity = identity_};
  made.identity.group_id = static_cast<int64_t>(position);
  if (!pieces.remembered.empty()) {
    const size_t like = pieces.remembered[position].like;
    made.ways = like < position ? pieces_[like].ways : nullptr;
  } else {
    const auto known = std::ranges::find_if(ways_, [&](const auto& ways) {
      return ways->is_like(piece, *pieces.candidates[position]);
    });
    made.ways = known == ways_.end() ? nullptr : known->get();
  }
  if (made.ways == nullptr) {
    ways_.push_back(
        std::make_unique<PieceWays>(
            std::move(piece), std::move(pieces.candidates[position]), made.identity, is_by_hand));
    made.ways = ways_.back().get();
  }
  pieces_.push_back(std::move(made));
}

bool FusionRuntime::is_cut_like(const PlannedPieces& pieces) const {
  const std::shared_ptr<const SegmentedFusion>& own = cut();
  return own != nullptr && pieces.cut != nullptr
             ? own->complete_fusion() == pieces.cut->complete_fusion() &&
                   own->is_cut_like(*pieces.cut)
             : own == pieces.cut &&
                   pieces_.front().ways->piece().kind == pieces.partition.pieces.front().kind;
}

bool FusionRuntime::serves(const PlannedPieces& pieces) const {
  if (!is_cut_like(pieces)) {
    return false;
  }
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (!pieces_[i].ways->serves(*pieces.candidates[i])) {
      return false;
    }
  }
  return true;
}

std::string FusionRuntime::difference_of(const PlannedPieces& pieces) const {
  if (!is_cut_like(pieces)) {
    const size_t count = pieces.partition.pieces.size();
    return "it is cut in another way: " + std::to_string(count) +
           (count == pieces_.size() ? " other" : "") + (count == 1 ? " segment" : " segments") +
           (count == pieces_.size() ? "" : " instead of " + std::to_string(pieces_.size()));
  }
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (const auto differences = pieces_[i].ways->find_differences(*pieces.candidates[i])) {
      return "segment " + std::to_string(i) + " has other params: " + *differences;
    }
  }
  return "nothing differs";
}

FusionRuntime::Planned FusionRuntime::plan(
    std::span<const Argument> args, Device device, Evaluator& evaluator) {
  const std::lock_guard lock(mutex_);
  Choice choice = best_choice(device, evaluator);
  if (!has_used_kept_) {
    use_kept_schedules(choice, device);
    choice = best_choice(device, evaluator);
  }
  for (;;) {
    const std::shared_ptr<HostProgram>& program = program_for(choice);
    auto plan = program->try_plan(args, device);
    if (const auto* refusal = std::get_if<StepRefusal>(&plan)) {
      choose_behind(piece_of(*program, refusal->step), refusal->refusal, choice, device, evaluator);
      continue;
    }
    last_program_ = program;
    last_choice_ = choice;
    last_device_ = device;
    if (dumped_.insert(choice).second) {
      if (replan_ == nullptr) { // nothing is dumped where plans are read from the disk
        dump_schedulers(reports(), cut_.get());
      }
    }
    Planned result{
        program, std::get<std::shared_ptr<const ProgramPlan>>(std::move(plan)),
        std::exchange(warnings_, {}), unusable_proposals()};
    for (const auto& ways : ways_) {
      if (std::optional<std::string> warning = ways->take_warning()) {
        result.warnings.push_back(std::move(*warning));
      }
    }
    return result;
  }
}

std::vector<UnusableProposal> FusionRuntime::unusable_proposals() const {
  std::vector<UnusableProposal> result;
  if (replan_ != nullptr) { // there is no better plan: it was made after such news
    return result;
  }
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Way::Kind kind = pieces_[i].ways->way(last_choice_[i]).kind;
    if (kind != Way::Kind::Trivial && kind != Way::Kind::Evaluated) {
      continue;
    }
    const PieceReport report = pieces_[i].ways->report_of(last_choice_[i]);
    for (const RefusedWay& refused : report.refused) {
      const bool is_of_schedule = refused.refusal.cause == KernelRefusal::Cause::Schedule ||
                                  refused.refusal.cause == KernelRefusal::Cause::Source;
      if (refused.params != nullptr && is_of_schedule) {
        result.push_back({i, refused.params, refused.refusal.refusal});
      }
    }
  }
  return result;
}

void FusionRuntime::choose_behind(
    size_t refused,
    const KernelRefusal& refusal,
    Choice& choice,
    Device device,
    Evaluator& evaluator) {
  PieceWays* const ways = pieces_[refused].ways;
  const size_t number = choice[refused];
  const size_t next = ways->find_way_behind(number, refusal, device, evaluator);
  const bool is_gone = refusal.cause != KernelRefusal::Cause::Launch; // whatever the sizes are
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (i == refused || (is_gone && pieces_[i].ways == ways && choice[i] == number)) {
      choice[i] = next;
    }
  }
}

FusionRuntime::Choice FusionRuntime::best_choice(Device device, Evaluator& evaluator) {
  // Schedules and lowers; kernels are compiled when their arguments are known.
  make_side_by_side(ways_.size(), [&](size_t i) {
    static_cast<void>(ways_[i]->find_best_way(device, evaluator));
  });
  Choice choice;
  for (const RuntimePiece& piece : pieces_) {
    choice.push_back(piece.ways->find_best_way(device, evaluator));
  }
  return choice;
}

const std::shared_ptr<HostProgram>& FusionRuntime::program_for(const Choice& choice) {
  std::shared_ptr<HostProgram>& program = programs_[choice];
  if (program != nullptr) {
    return program;
  }
  auto made = std::make_shared<HostProgram>(pieces_.front().identity.fusion_id);
  for (size_t i = 0; i < num_inputs_; ++i) {
    static_cast<void>(made->add_input());
  }
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const RuntimePiece& piece = pieces_[i];
    const Way& way = piece.ways->way(choice[i]);
    const Fusion& fusion = *piece.ways->piece().fusion;
    if (way.kernel != nullptr) {
      static_cast<void>(made->launch(way.kernel, piece.inputs, piece.random_numbers));
    } else if (way.kind == Way::Kind::View) {
      static_cast<void>(made->view(fusion, piece.inputs));
    } else {
      KernelIdentity identity = piece.identity;
      identity.scheduler = SchedulerType::expr_eval;
      static_cast<void>(made->evaluate(fusion, piece.inputs, identity, piece.random_numbers));
    }
  }
  for (const Slot output : outputs_) {
    made->add_output(output);
  }
  made->insert_frees();
  made->use_random_streams(random_streams_);
  program = std::move(made);
  return program;
}

std::optional<StoredPlan> FusionRuntime::plan_to_store() const {
  const std::lock_guard lock(mutex_);
  if (replan_ != nullptr || last_choice_.size() != pieces_.size()) {
    return std::nullopt;
  }
  // The facts of one kernel are found without a plan. Its texts and errors then have the names and
  // lines of the definition, which a fusion that was read from bytes has not.
  if (pieces_.size() == 1) {
    return std::nullopt;
  }
  StoredPlan plan{.pieces = {}, .outputs = outputs_, .random_streams = random_streams_};
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const PieceWays& ways = *pieces_[i].ways;
    std::optional<RememberedWay> way = ways.memory_of(last_choice_[i]);
    if (!way) {
      return std::nullopt;
    }
    way->decisions = decisions_of(ways.report_of(last_choice_[i]).proposed, last_device_.kind);
    const auto first = std::ranges::find(pieces_, &ways, &RuntimePiece::ways);
    StoredPiece stored{
        .piece = ways.piece(),
        .like = static_cast<size_t>(first - pieces_.begin()),
        .way = *std::move(way)};
    stored.piece.inputs = pieces_[i].inputs;
    stored.piece.random_numbers = pieces_[i].random_numbers;
    plan.pieces.push_back(std::move(stored));
  }
  return plan;
}

// ---- Schedules of users -------------------------------------------------------------------------

void FusionRuntime::use(
    size_t segment, const Way& replaced, const HandSchedule& schedule, Device device) {
  // Schedulers may have rewritten the math: what fd.fec.schedules shows is as good.
  const auto differs = [&](const Fusion& definition) {
    return find_other_definition(definition, *schedule.fusion, schedule.origin);
  };
  if (differs(*replaced.kernel->scheduled())) {
    check(differs(*replaced.kernel->fusion()));
  }
  if (const auto refusal = pieces_[segment].ways->use(&schedule, device)) {
    throw_refusal(*refusal);
  }
}

void FusionRuntime::use_kept_schedules(const Choice& choice, Device device) {
  has_used_kept_ = true;
  std::set<const PieceWays*> seen;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    PieceWays& ways = *pieces_[i].ways;
    const Way& way = ways.way(choice[i]);
    if (way.kernel == nullptr || way.kind == Way::Kind::ByHand || !seen.insert(&ways).second) {
      continue;
    }
    const Fusion& definition = *ways.piece().fusion;
    const std::string decisions =
        ways.decisions().empty() ? decisions_of(ways.report_of(choice[i]).proposed, device.kind)
                                 : ways.decisions();
    std::shared_ptr<const HandSchedule> kept;
    if (has_hand_schedules()) {
      kept = find_hand_schedule(definition, decisions);
      if (kept == nullptr) { // where its scheduler rewrites the math, texts have what it makes
        kept = find_hand_schedule(*way.kernel->scheduled(), decisions);
      }
    }
    if (kept != nullptr) {
      use(i, way, *kept, device);
    } else if (const auto tuned = find_tuned(definition, decisions, device)) {
      // A record that cannot be lowered any more is no error: the call did not ask for it.
      static_cast<void>(ways.use(&*tuned, device));
    } else if (
        auto warning = has_hand_schedules() ? take_unused_hand_schedule(definition, decisions)
                                            : std::nullopt) {
      warnings_.push_back(*std::move(warning));
    }
  }
}

PieceWays& FusionRuntime::ways_to_change(size_t segment) {
  NVF_USER_CHECK(
      segment < last_choice_.size(), "The segment id is not valid: there are ", last_choice_.size(),
      " segments, numbered from 0, but got ", segment);
  PieceWays& ways = *pieces_[segment].ways;
  NVF_USER_CHECK(
      ways.way(last_choice_[segment]).kernel != nullptr, "Segment ", segment,
      " runs without a kernel, and has no schedule: print(fd.fec.explain(inputs)) says why");
  std::erase_if(programs_, [&](const auto& entry) { // equal segments share their ways
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].ways == &ways && entry.first[i] == ways.given()) {
        return true;
      }
    }
    return false;
  });
  return ways;
}

void FusionRuntime::use_schedule(size_t segment, const HandSchedule* schedule) {
  const std::lock_guard lock(mutex_);
  PieceWays& ways = ways_to_change(segment);
  if (schedule == nullptr) {
    static_cast<void>(ways.use(nullptr, last_device_));
  } else {
    use(segment, ways.way(last_choice_[segment]), *schedule, last_device_);
  }
}

void FusionRuntime::use_params(size_t segment, const HeuristicParams& params) {
  const std::lock_guard lock(mutex_);
  PieceWays& ways = ways_to_change(segment);
  const HandSchedule schedule{
      .fusion = ways.piece().fusion->clone(),
      .origin = kTunedOrigin,
      .compile_params = params.cparams};
  schedule::FusionSummary summary(*schedule.fusion);
  schedule::schedule(params.scheduler_type(), summary, params);
  if (const auto refusal = ways.use(&schedule, last_device_)) {
    throw_refusal(*refusal);
  }
}

void FusionRuntime::store_tuned(size_t segment) {
  const std::lock_guard lock(mutex_);
  const PieceWays& ways = *pieces_.at(segment).ways;
  const Way* way = ways.find_given();
  NVF_USER_CHECK(
      way != nullptr, "Segment ", segment,
      " has its automatic schedule: put another one in place first, with use_params");
  host::store_tuned(
      *ways.piece().fusion,
      {.fusion = way->kernel->scheduled(),
       .decisions =
           decisions_of(ways.report_of(last_choice_.at(segment)).proposed, last_device_.kind),
       .origin = kTunedOrigin,
       .compile_params = way->kernel->compile_params()},
      last_device_);
}

// ---- Looking into -------------------------------------------------------------------------------

std::vector<std::shared_ptr<KernelProgram>> FusionRuntime::last_kernels() const {
  std::vector<std::shared_ptr<KernelProgram>> kernels;
  const std::lock_guard lock(mutex_);
  if (last_program_ != nullptr) {
    for (const Step& step : last_program_->steps()) {
      if (const auto* launch = std::get_if<Launch>(&step)) {
        kernels.push_back(launch->kernel);
      }
    }
  }
  return kernels;
}

std::vector<PieceReport> FusionRuntime::last_pieces() const {
  const std::lock_guard lock(mutex_);
  if (replan_ == nullptr) {
    return reports();
  }
  for (size_t i = 0; i < last_choice_.size(); ++i) {
    pieces_[i].ways->recall_refusals(last_choice_[i], last_device_);
  }
  std::vector<PieceReport> result = reports();
  const std::vector<Piece>& planned = replan_().partition.pieces;
  NVF_INVARIANT(planned.size() == pieces_.size(), "a plan that is made again is the same");
  for (size_t i = 0; i < result.size(); ++i) {
    result[i].fusion = planned[i].fusion; // with the user's names and lines
  }
  return result;
}

std::vector<PieceReport> FusionRuntime::reports() const {
  std::vector<PieceReport> reports;
  for (size_t i = 0; i < last_choice_.size(); ++i) {
    reports.push_back(pieces_[i].ways->report_of(last_choice_[i]));
    reports.back().inputs = pieces_[i].inputs;
  }
  return reports;
}

std::string FusionRuntime::explain() const {
  return host::explain(last_pieces(), cut().get());
}

std::vector<std::string> FusionRuntime::schedules() const {
  std::vector<std::string> texts;
  const std::vector<PieceReport> reports = last_pieces();
  for (size_t i = 0; i < reports.size(); ++i) {
    texts.push_back(schedule_text(reports[i], i, reports.size(), last_device_.kind));
  }
  return texts;
}

std::vector<std::string> FusionRuntime::kernel_sources(bool with_support_code) const {
  std::vector<std::string> sources;
  for (const auto& kernel : last_kernels()) {
    const std::shared_ptr<const CompiledKernel> code = kernel->last_compiled();
    sources.push_back(
        with_support_code ? code->source()
                          : generate_kernel_text(*code->kernel(), code->name, Comments::Fusion));
  }
  return sources;
}

std::string FusionRuntime::kernel_source(bool with_support_code) const {
  std::string result;
  for (const std::string& source : kernel_sources(with_support_code)) {
    result += (result.empty() ? "" : "\n") + source;
  }
  return result;
}

std::string FusionRuntime::scheduled_text(bool with_transforms) const {
  std::string result;
  for (const auto& kernel : last_kernels()) {
    result += (result.empty() ? "" : "\n") + print_scheduled(*kernel->scheduled(), with_transforms);
  }
  const std::shared_ptr<const SegmentedFusion>& plan = cut();
  if (result.empty() || plan == nullptr || plan->groups().size() < 2) {
    return result;
  }
  return "Segmented_Fusion Dump: -- Re-written complete fusion:{\n" +
         plan->complete_fusion()->print_math() + "} // {Re-written complete fusion}\n" +
         plan->to_string() + "\n" + result;
}

std::vector<LaunchParams> FusionRuntime::last_launches() const {
  std::vector<LaunchParams> result;
  for (const auto& kernel : last_kernels()) {
    result.push_back(kernel->last_launch());
  }
  return result;
}

int64_t FusionRuntime::num_compiled() const {
  std::set<const KernelProgram*> seen;
  int64_t result = 0;
  const std::lock_guard lock(mutex_);
  for (const auto& [choice, program] : programs_) {
    for (const Step& step : program->steps()) {
      const auto* launch = std::get_if<Launch>(&step);
      if (launch != nullptr && seen.insert(launch->kernel.get()).second) {
        result += launch->kernel->num_compiled();
      }
    }
  }
  return result;
}

} // namespace nvfuser::host
