#include "host/fusion_runtime.h"

#include <algorithm>
#include <set>

#include "codegen/codegen.h"
#include "ir/print.h"

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
    PlannedPieces pieces, size_t num_inputs, const KernelIdentity& identity, bool is_by_hand)
    : num_inputs_(num_inputs),
      cut_(std::move(pieces.cut)),
      outputs_(std::move(pieces.partition.outputs)) {
  for (size_t i = 0; i < pieces.candidates.size(); ++i) {
    KernelIdentity of_piece = identity;
    of_piece.group_id = static_cast<int64_t>(i);
    pieces_.push_back(
        std::make_unique<PieceWays>(
            std::move(pieces.partition.pieces[i]), std::move(pieces.candidates[i]), of_piece,
            is_by_hand));
  }
}

bool FusionRuntime::serves(const PlannedPieces& pieces) const {
  if (cut_ == nullptr || pieces.cut == nullptr) {
    const bool are_both_whole = cut_ == pieces.cut;
    if (!are_both_whole || pieces_.front()->piece().kind != pieces.partition.pieces.front().kind) {
      return false;
    }
  } else if (!cut_->is_cut_like(*pieces.cut)) {
    return false;
  }
  return std::ranges::equal(pieces_, pieces.candidates, [](const auto& own, const auto& others) {
    return own->serves(*others);
  });
}

FusionRuntime::Planned FusionRuntime::plan(
    std::span<const Argument> args, Device device, Evaluator& evaluator) {
  const std::lock_guard lock(mutex_);
  Choice choice = best_choice(device, evaluator);
  for (;;) {
    const std::shared_ptr<HostProgram>& program = program_for(choice);
    auto plan = program->try_plan(args, device);
    if (const auto* refusal = std::get_if<StepRefusal>(&plan)) {
      const size_t piece = piece_of(*program, refusal->step);
      choice[piece] =
          pieces_[piece]->find_way_behind(choice[piece], refusal->refusal, device, evaluator);
      continue;
    }
    last_program_ = program;
    last_choice_ = choice;
    Planned result{program, std::get<std::shared_ptr<const ProgramPlan>>(std::move(plan)), {}};
    for (const auto& piece : pieces_) {
      if (std::optional<std::string> warning = piece->take_warning()) {
        result.warnings.push_back(std::move(*warning));
      }
    }
    return result;
  }
}

FusionRuntime::Choice FusionRuntime::best_choice(Device device, Evaluator& evaluator) {
  Choice choice;
  for (const auto& piece : pieces_) {
    choice.push_back(piece->find_way(0, device, evaluator));
  }
  return choice;
}

const std::shared_ptr<HostProgram>& FusionRuntime::program_for(const Choice& choice) {
  std::shared_ptr<HostProgram>& program = programs_[choice];
  if (program != nullptr) {
    return program;
  }
  auto made = std::make_shared<HostProgram>(pieces_.front()->identity().fusion_id);
  for (size_t i = 0; i < num_inputs_; ++i) {
    static_cast<void>(made->add_input());
  }
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Way& way = pieces_[i]->way(choice[i]);
    if (way.kernel != nullptr) {
      static_cast<void>(made->launch(way.kernel, way.inputs));
    } else if (way.kind == Way::Kind::View) {
      static_cast<void>(made->view(*pieces_[i]->piece().fusion, way.inputs));
    } else {
      KernelIdentity identity = pieces_[i]->identity();
      identity.scheduler = SchedulerType::expr_eval;
      static_cast<void>(made->evaluate(*pieces_[i]->piece().fusion, way.inputs, identity));
    }
  }
  for (const Slot output : outputs_) {
    made->add_output(output);
  }
  made->insert_frees();
  program = std::move(made);
  return program;
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
  std::vector<PieceReport> reports;
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < last_choice_.size(); ++i) {
    reports.push_back(pieces_[i]->report_of(last_choice_[i]));
  }
  return reports;
}

std::string FusionRuntime::kernel_source(bool with_support_code) const {
  std::string result;
  for (const auto& kernel : last_kernels()) {
    const std::shared_ptr<const CompiledKernel> code = kernel->last_compiled();
    result += (result.empty() ? "" : "\n");
    result += with_support_code
                  ? code->source()
                  : generate_kernel_text(*code->kernel(), code->name, Comments::Fusion);
  }
  return result;
}

std::string FusionRuntime::scheduled_text(bool with_transforms) const {
  std::string result;
  for (const auto& kernel : last_kernels()) {
    result += (result.empty() ? "" : "\n") + print_scheduled(*kernel->scheduled(), with_transforms);
  }
  return result;
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
