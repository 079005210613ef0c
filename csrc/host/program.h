// HostProgram: what a call does. Its arguments fill the first slots, its steps run in order, and
// some slots are what the caller gets.
//
//   HostProgram program;
//   const Slot x = program.add_input();
//   const std::vector<Slot> y = program.launch(kernel, {x});
//   program.add_output(y[0]);
//   program.run(args, {allocator, evaluator});
//
// A program serves arguments of any sizes. For the sizes it meets first it makes a plan
// (host/program_plan.h): launch plans of its kernels, and where every tensor lies.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/read_mostly_map.h"
#include "host/evaluator.h"
#include "host/program_plan.h"
#include "host/run_program.h"
#include "host/steps.h"
#include "runtime/launch.h"
#include "runtime/signature.h"

namespace nvfuser::host {

/// Thread-safe once it is built. The first plan ends building: a step that is added later is an
/// error.
class HostProgram {
 public:
  explicit HostProgram(int64_t fusion_id = 0) : fusion_id_(fusion_id) {}
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;

  // -- building: every function checks slots, and types and ranks as far as they are known --

  /// The slot of the next argument. Requires: there are no steps yet.
  Slot add_input();
  /// Runs draw for at least so many random tensors.
  void use_random_streams(int64_t streams) {
    random_streams_ = std::max(random_streams_, streams);
  }
  /// Let the caller get `slot` as its next output. One slot may be several outputs.
  void add_output(Slot slot);
  /// A run draws one state for the random tensors without seed of all steps. `random_numbers`: the
  /// places in the run of those of this step, which use_random_streams counts; left out: behind
  /// those of earlier steps.
  std::vector<Slot> launch(
      std::shared_ptr<KernelProgram> kernel,
      std::vector<Slot> inputs,
      std::optional<std::vector<int64_t>> random_numbers = {});
  /// This and the following work on copies of `fusion`, which a launch needs scheduled.
  std::vector<Slot> launch(
      const Fusion& fusion,
      std::vector<Slot> inputs,
      const LaunchParams& constraints = {},
      const CompileParams& params = {},
      SchedulerType scheduler = SchedulerType::none);
  /// `identity`: its name in profiles; left out: that of the program, and the number of the step.
  std::vector<Slot> evaluate(
      const Fusion& fusion,
      std::vector<Slot> inputs,
      std::optional<KernelIdentity> identity = {},
      std::optional<std::vector<int64_t>> random_numbers = {});
  std::vector<Slot> view(const Fusion& fusion, std::vector<Slot> inputs);
  std::vector<Slot> allocate(const Fusion& fusion, std::vector<Slot> inputs);
  void copy(Slot from, Slot to);
  void free(Slot slot);
  /// Free every slot behind the last step that reads it.
  void insert_frees();

  // -- running --

  /// Run, on the caller's current stream. `device`: where a program without tensor inputs runs.
  [[nodiscard]] std::vector<RunOutput> run(
      std::span<const Argument> args, const Caller& caller, std::optional<Device> device = {});
  /// The plan for arguments like these; kernels are compiled where they are new. A refusal where a
  /// launch has no kernel for them.
  [[nodiscard]] std::variant<std::shared_ptr<const ProgramPlan>, StepRefusal> try_plan(
      std::span<const Argument> args, std::optional<Device> device = {});
  /// The plan; throws what is refused.
  [[nodiscard]] std::shared_ptr<const ProgramPlan> plan(
      std::span<const Argument> args, std::optional<Device> device = {});

  // -- looking at it --

  [[nodiscard]] int64_t num_inputs() const {
    return num_inputs_;
  }
  [[nodiscard]] int64_t num_slots() const {
    return static_cast<int64_t>(slots_.size());
  }
  [[nodiscard]] const std::vector<Slot>& outputs() const {
    return outputs_;
  }
  /// By argument: is it a number that some size depends on?
  [[nodiscard]] const std::vector<bool>& sizes_depend_on() const {
    return sizes_depend_on_;
  }
  [[nodiscard]] const std::vector<Step>& steps() const {
    return steps_;
  }
  [[nodiscard]] int64_t fusion_id() const {
    return fusion_id_;
  }
  [[nodiscard]] int64_t num_plans() const {
    return static_cast<int64_t>(plans_.size());
  }
  [[nodiscard]] std::string to_string() const;

 private:
  static constexpr int64_t kNotFreed = -1;
  /// Facts about a slot before a run.
  struct SlotFacts {
    const Val* val = nullptr;     // of the fusion that set or first read it; nullptr: not known yet
    int64_t freed_by = kNotFreed; // position of the step
  };

  void check_open() const;
  /// Refuses slots that do not exist or were freed. `what` names the step.
  void check_slot(const std::string& what, Slot slot) const;
  void check_tensor_slot(const std::string& what, Slot slot) const;
  /// Check the inputs of a step against those of its fusion.
  void check_inputs(const std::string& what, const Fusion& fusion, const std::vector<Slot>& inputs);
  std::vector<Slot> new_slots(const Fusion& fusion);
  /// The places in a run of the random tensors of the next step.
  [[nodiscard]] std::vector<int64_t> next_random_numbers(const Fusion& fusion);
  [[nodiscard]] std::variant<std::shared_ptr<const ProgramPlan>, StepRefusal> try_make_plan(
      std::span<const Argument> args, std::optional<Device> device, const Signature& words);

  const int64_t fusion_id_;
  int64_t num_inputs_ = 0;
  int64_t random_streams_ = 0;
  std::vector<SlotFacts> slots_;
  std::vector<Step> steps_;
  std::vector<Slot> outputs_;
  std::vector<std::shared_ptr<Fusion>> fusions_; // that facts of slots point into
  std::vector<bool> sizes_depend_on_;            // by argument: a number that some size depends on
  std::atomic<bool> is_closed_ = false;
  ReadMostlyMap<Signature, std::shared_ptr<const ProgramPlan>, SignatureHash> plans_;
  std::mutex plan_mutex_; // of planning
};

} // namespace nvfuser::host
