// KernelProgram: a scheduled fusion on its way to kernels. It keeps the code for every target,
// device architecture and index width it was run with, and a launch plan for every signature:
// sizes, strides, devices, and those scalars that sizes depend on.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/compile_params.h"
#include "base/launch_params.h"
#include "ir/fusion.h"
#include "runtime/arguments.h"
#include "runtime/compiled_kernel.h"
#include "runtime/kernel_identity.h"
#include "runtime/launch.h"
#include "runtime/launch_plan.h"

namespace nvfuser {

/// Thread-safe. Threads with signatures that have a plan do not wait for one that compiles.
class KernelProgram {
 public:
  /// Works on a copy of `fusion`. `constraints` and `params` hold for every run.
  KernelProgram(
      const Fusion& fusion,
      const KernelIdentity& identity,
      const LaunchParams& constraints,
      const CompileParams& params);

  /// Compile for `args`; without arguments for `params.device`, else for the default device.
  void compile(std::span<const Argument> args);
  /// Run; parameters given here come on top of those of the program.
  [[nodiscard]] std::vector<RunOutput> run(
      std::span<const Argument> args,
      OutputAllocator& allocator,
      const LaunchParams& constraints,
      const CompileParams& params);

  // -- for looking into --
  [[nodiscard]] std::shared_ptr<const CompiledKernel> last_compiled() const;
  [[nodiscard]] LaunchParams last_launch() const;
  [[nodiscard]] int64_t num_compiled() const;
  [[nodiscard]] int64_t num_plans() const;

 private:
  /// Words that stand for everything a plan depends on.
  using Signature = std::vector<int64_t>;
  struct SignatureHash {
    size_t operator()(const Signature& words) const;
  };
  using PlanPtr = std::shared_ptr<const LaunchPlan>;

  void write_signature(
      std::span<const Argument> args,
      const LaunchParams& constraints,
      const CompileParams& params,
      Signature& words) const;
  [[nodiscard]] PlanPtr find_plan(const Signature& words) const;
  /// The slow path: check the arguments, choose or compile the code, plan, remember.
  [[nodiscard]] PlanPtr make_plan(
      std::span<const Argument> args,
      const LaunchParams& constraints,
      const CompileParams& params,
      const Signature& words);
  /// A request whose code serves any arguments, as far as that is known without them.
  [[nodiscard]] KernelRequest request_for(Device device, const CompileParams& params) const;
  [[nodiscard]] CodeChoice choose_code(
      Device device, std::span<const Argument> args, const CompileParams& params);
  /// What decides about code for `device`. Where nothing was lowered for it, that happens now.
  [[nodiscard]] const CodeChooser& chooser_for(Device device, const CompileParams& params);
  [[noreturn]] void throw_division_by_zero(Device device, std::span<const Argument> args);
  [[nodiscard]] std::shared_ptr<const CompiledKernel> code_for(
      Device device, const CodeChoice& choice, const CompileParams& params);
  [[nodiscard]] LoweredKernel lower(const KernelRequest& request);

  const KernelIdentity identity_;
  const std::string kernel_name_;
  const LaunchParams constraints_;
  const CompileParams params_;
  const std::shared_ptr<Fusion> fusion_;
  const EqualDims equal_dims_;
  const LaunchWords words_;
  const std::vector<bool> shapes_depend_on_; // by input: a scalar that some size depends on

  std::mutex compile_mutex_;                                                    // of the slow path
  std::unordered_map<std::string, std::shared_ptr<const CompiledKernel>> code_; // by request
  std::unordered_map<TargetKind, CodeChooser> choosers_;
  /// What was lowered for a choice and not compiled yet.
  std::optional<KernelRequest> lowered_for_;
  LoweredKernel lowered_;

  mutable std::mutex plan_mutex_; // of what follows
  std::unordered_map<Signature, PlanPtr, SignatureHash> plans_;
  std::shared_ptr<const CompiledKernel> last_compiled_;
  PlanPtr last_plan_;
  int64_t num_compiled_ = 0;
};

} // namespace nvfuser
