// KernelProgram: a scheduled fusion on its way to kernels. It keeps the code for every target,
// device architecture and index width it was run with, and a launch plan for every signature:
// sizes, strides, devices, and those scalars that sizes depend on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/compile_params.h"
#include "base/launch_params.h"
#include "base/read_mostly_map.h"
#include "ir/fusion.h"
#include "runtime/arguments.h"
#include "runtime/compiled_kernel.h"
#include "runtime/kernel_identity.h"
#include "runtime/kernel_refusal.h"
#include "runtime/kernel_store.h"
#include "runtime/launch.h"
#include "runtime/launch_plan.h"
#include "runtime/signature.h"

namespace nvfuser {

/// Thread-safe. A thread whose signature has a plan takes no lock.
class KernelProgram {
 public:
  /// `constraints` and `params` hold for every run.
  KernelProgram(
      std::shared_ptr<const ScheduledFusion> fusion,
      const KernelIdentity& identity,
      const LaunchParams& constraints,
      const CompileParams& params);

  /// Compile for `args`; without arguments for `params.device`, else for the default device.
  void compile(std::span<const Argument> args);
  /// Why no arguments on `device` have a kernel: the schedule cannot be lowered. A kernel
  /// that was lowered to know it is compiled later.
  [[nodiscard]] std::optional<KernelRefusal> find_no_kernel(Device device);
  /// The plan of runs with arguments like these, made if they are the first of their kind; only the
  /// sizes and types of tensors are looked at. Parameters come on top of those of the program. A
  /// refusal where there is no kernel, or where it does not serve these sizes. Throws UserError for
  /// arguments that do not fit.
  [[nodiscard]] std::variant<std::shared_ptr<const LaunchPlan>, KernelRefusal> try_plan(
      std::span<const Argument> args,
      const LaunchParams& constraints = {},
      const CompileParams& params = {});
  /// The plan; throws what is refused.
  [[nodiscard]] std::shared_ptr<const LaunchPlan> plan(
      std::span<const Argument> args,
      const LaunchParams& constraints = {},
      const CompileParams& params = {});
  /// Run; parameters given here come on top of those of the program.
  [[nodiscard]] std::vector<RunOutput> run(
      std::span<const Argument> args,
      OutputAllocator& allocator,
      const LaunchParams& constraints,
      const CompileParams& params);

  /// The fusion that the kernel computes, perhaps without its schedule; nothing changes it.
  [[nodiscard]] const std::shared_ptr<Fusion>& fusion() const {
    return fusion_;
  }
  /// With its schedule, which is applied now if nothing was lowered yet.
  [[nodiscard]] const std::shared_ptr<Fusion>& scheduled() const {
    return scheduled_->get();
  }
  /// How it is compiled, where a run does not say.
  [[nodiscard]] const CompileParams& compile_params() const {
    return params_;
  }
  [[nodiscard]] const KernelIdentity& identity() const {
    return identity_;
  }
  /// By input: is it a scalar that some size depends on?
  [[nodiscard]] const std::vector<bool>& sizes_depend_on() const {
    return sizes_depend_on_;
  }

  // -- for looking into --
  /// Remember that `plan` ran.
  void note_run(const std::shared_ptr<const LaunchPlan>& plan);
  [[nodiscard]] std::shared_ptr<const CompiledKernel> last_compiled() const;
  [[nodiscard]] LaunchParams last_launch() const;
  [[nodiscard]] int64_t num_compiled() const;
  [[nodiscard]] int64_t num_plans() const;

 private:
  using PlanPtr = std::shared_ptr<const LaunchPlan>;
  using CodePtr = std::shared_ptr<const CompiledKernel>;

  void write_signature(
      std::span<const Argument> args,
      const LaunchParams& constraints,
      const CompileParams& params,
      Signature& words) const;
  /// The slow path: check the arguments, choose or compile the code, plan, remember.
  [[nodiscard]] std::variant<PlanPtr, KernelRefusal> try_make_plan(
      std::span<const Argument> args,
      const LaunchParams& constraints,
      const CompileParams& params,
      const Signature& words);
  /// A request whose code serves any arguments, as far as that is known without them.
  [[nodiscard]] KernelRequest request_for(Device device, const CompileParams& params) const;
  [[nodiscard]] std::variant<CodeChoice, KernelRefusal> try_choose_code(
      Device device, const BoundArguments& bound, const CompileParams& params);
  [[nodiscard]] BoundArguments bind(std::span<const Argument> args) const {
    return bind_to_fusion(*fusion_, equal_dims_, words_, args);
  }
  /// The facts that decide about code for `device`. Where nothing was lowered for it, in this
  /// process or an earlier one, that happens now.
  [[nodiscard]] std::variant<const CodeChooser*, KernelRefusal> try_chooser_for(
      Device device, const CompileParams& params);
  const CodeChooser& keep_chooser(const Kernel& kernel, const KernelRequest& request);
  [[noreturn]] void throw_division_by_zero(Device device, std::span<const Argument> args);
  [[nodiscard]] std::variant<CodePtr, KernelRefusal> try_code_for(
      Device device, const CodeChoice& choice, const CompileParams& params);
  [[nodiscard]] std::variant<LoweredKernel, KernelRefusal> try_lower(const KernelRequest& request);
  [[nodiscard]] std::variant<CodePtr, KernelRefusal> try_compile(const KernelRequest& request);
  [[nodiscard]] std::variant<LaunchPlan, KernelRefusal> try_plan_with(
      const CodeChoice& choice,
      BoundArguments& bound,
      Device device,
      const LaunchParams& constraints,
      const CompileParams& params);

  const KernelIdentity identity_;
  const std::string kernel_name_;
  const LaunchParams constraints_;
  const CompileParams params_;
  const std::shared_ptr<const ScheduledFusion> scheduled_;
  const std::shared_ptr<Fusion> fusion_; // its definition
  const EqualDims equal_dims_;
  const LaunchWords words_;
  const std::vector<bool> sizes_depend_on_; // by input: a scalar that some size depends on

  ReadMostlyMap<Signature, PlanPtr, SignatureHash> plans_;

  std::mutex compile_mutex_; // of the slow path
  KernelStore store_;
  std::unordered_map<std::string, std::shared_ptr<const CompiledKernel>> code_; // by request
  std::unordered_map<TargetKind, CodeChooser> choosers_;
  /// The kernel that was lowered for a choice and not compiled yet.
  std::optional<KernelRequest> lowered_for_;
  LoweredKernel lowered_;

  mutable std::mutex last_mutex_; // of what follows
  std::shared_ptr<const CompiledKernel> last_compiled_;
  PlanPtr last_plan_owner_;
  std::atomic<const LaunchPlan*> last_plan_ = nullptr; // that of last_plan_owner_; read by itself
  int64_t num_compiled_ = 0;
};

} // namespace nvfuser
