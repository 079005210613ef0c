// KernelExecutor: compiles and runs one scheduled fusion as one kernel.
//
// A fusion does not know its device: the arguments of a run decide the target.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/refusal.h"
#include "runtime/kernel_program.h"

namespace nvfuser {

/// Why a fusion cannot be one kernel, whatever its schedule: it has no outputs, one that no kernel
/// writes, or dynamic shapes.
[[nodiscard]] std::optional<Refusal> find_unsupported(const Fusion& fusion);

class KernelExecutor {
 public:
  explicit KernelExecutor(
      int64_t fusion_id = 0, int64_t concrete_id = 0, int64_t runtime_id = 0, int64_t group_id = 0);
  KernelExecutor(const KernelExecutor&) = delete;
  KernelExecutor& operator=(const KernelExecutor&) = delete;

  /// Lower and compile `fusion`, which stays as it is. With `args`: for their device and, on a
  /// GPU, with the narrowest index type they allow; without: for `compile_params.device`, else the
  /// first CUDA device, else the CPU. Other targets are compiled when a run asks for them.
  void compile(
      const Fusion& fusion,
      std::span<const Argument> args = {},
      const LaunchParams& launch_constraints = {},
      const CompileParams& compile_params = {},
      SchedulerType scheduler_type = SchedulerType::none);

  /// Run with `args`, compiling first where their target or index width is new. Parameters given
  /// here come on top of those of `compile`.
  [[nodiscard]] std::vector<RunOutput> run(
      std::span<const Argument> args,
      OutputAllocator& allocator,
      const LaunchParams& launch_constraints = {},
      const CompileParams& compile_params = {});

  [[nodiscard]] bool is_compiled() const {
    return program() != nullptr;
  }
  /// Whether the kernel that was compiled last may begin while the grid before it runs.
  [[nodiscard]] bool is_programmatic_dependent_launch_enabled() const;

  // -- for looking into --

  /// The program that was compiled; nullptr before.
  [[nodiscard]] std::shared_ptr<KernelProgram> program() const;

 private:
  const int64_t fusion_id_;
  const int64_t concrete_id_;
  const int64_t runtime_id_;
  const int64_t group_id_;
  mutable std::mutex mutex_;
  std::shared_ptr<KernelProgram> program_; // guarded by mutex_
};

} // namespace nvfuser
