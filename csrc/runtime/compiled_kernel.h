// CompiledKernel: one fusion as machine code of one target, and how it is launched.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "base/compile_params.h"
#include "base/device.h"
#include "base/launch_params.h"
#include "base/options.h"
#include "lower/kernel.h"
#include "runtime/code_choice.h"
#include "runtime/cpu_code.h"
#include "runtime/cuda_code.h"
#include "runtime/kernel_refusal.h"
#include "runtime/launch_recipe.h"
#include "runtime/scheduled_fusion.h"

namespace nvfuser {

/// The facts that decide about the code of a fusion, beside the fusion.
struct KernelRequest {
  std::string name; // for users: the code has none of its numbers
  SchedulerType scheduler = SchedulerType::none;
  Device device;
  CodeChoice choice;
  LaunchParams constraints; // launch dimensions fixed before compilation
  CompileParams params;
  int64_t group_id = 0; // which entry of NVFUSER_EXTERNAL_SRC stands for the generated source

  /// Equal texts: equal code. Devices of one architecture share it.
  [[nodiscard]] std::string key() const;
};

/// Machine code, and what a launch needs. Code that was read from the disk has no lowered fusion
/// yet: that is made when it is asked for, as is the source for readers.
class CompiledKernel {
 public:
  CompiledKernel(std::shared_ptr<const ScheduledFusion> fusion, KernelRequest request);

  const std::string name; // nvfuser_pointwise_f0_c0_r0_g0: machine code has another one
  const DataType index_type;
  LaunchRecipe recipe;
  std::shared_ptr<CpuCode> cpu;   // on the CPU target
  std::shared_ptr<CudaCode> cuda; // on the CUDA target
  double lowering_ms = 0;         // source included
  double compilation_ms = 0;      // caches included
  std::chrono::steady_clock::time_point compiled_at;

  /// The lowered fusion, which is lowered now if it was not before.
  [[nodiscard]] std::shared_ptr<Kernel> kernel() const;
  /// The source for readers, with the name and the fusion's comments; the compiler got neither.
  [[nodiscard]] std::string source() const;
  void set_kernel(std::shared_ptr<Kernel> kernel) {
    kernel_ = std::move(kernel);
  }
  /// The source that a user put in place of the generated one.
  void set_source(std::string source) {
    source_ = std::move(source);
  }

  /// The name of the function in the machine code.
  [[nodiscard]] const std::string& function_name() const {
    return cuda != nullptr ? cuda->function_name() : cpu->function_name();
  }

 private:
  [[nodiscard]] const std::shared_ptr<Kernel>& locked_kernel() const;

  const std::shared_ptr<const ScheduledFusion> fusion_;
  const KernelRequest request_;
  const std::shared_ptr<const Options> options_; // that held when the code was asked for
  mutable std::mutex mutex_;                     // of what follows
  mutable std::shared_ptr<Kernel> kernel_;       // nullptr: not lowered yet
  mutable std::string source_;                   // empty: not printed yet
};

/// A kernel without code yet.
struct LoweredKernel {
  std::shared_ptr<Kernel> kernel;
  double milliseconds = 0;
};
/// Lower `fusion`; or why it cannot be scheduled or lowered.
[[nodiscard]] std::variant<LoweredKernel, KernelRefusal> try_lower_kernel(
    const ScheduledFusion& scheduled, const KernelRequest& request);
/// The kernel; throws what is refused.
[[nodiscard]] LoweredKernel lower_kernel(
    const ScheduledFusion& fusion, const KernelRequest& request);
/// Print the source of a kernel that was lowered from `fusion` for `request`, or for one that
/// differs in its index type, and compile it. A refusal where there is no compiler, or where it
/// fails; a UserError for a source that does not compile.
[[nodiscard]] std::variant<std::shared_ptr<const CompiledKernel>, KernelRefusal> try_compile_kernel(
    std::shared_ptr<const ScheduledFusion> fusion,
    const LaunchWords& words,
    LoweredKernel lowered,
    const KernelRequest& request);

/// A watch that starts when it is made.
class Stopwatch {
 public:
  [[nodiscard]] double milliseconds() const {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    return std::chrono::duration<double, std::milli>(elapsed).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A fusion as CUDA, for readers and for other programs to load.
struct CudaTexts {
  std::shared_ptr<Kernel> kernel;
  std::string name;   // of the function
  std::string source; // complete: compiles by itself
  std::string ptx;
  std::string cubin;
};
/// Lower `fusion` (which stays as it is) and compile it for `architecture`, "sm_90a" for one. Needs
/// NVRTC; neither a driver nor a device. Of `params`, the index type has to be there.
[[nodiscard]] CudaTexts compile_cuda(
    const Fusion& fusion,
    const CompileParams& params,
    const std::string& architecture,
    const std::string& name);

/// The target that `device` belongs to, with the limits of that device.
[[nodiscard]] Target target_of(Device device);
/// "sm_90a"; where there is no driver, kernels are compiled for Hopper.
[[nodiscard]] std::string architecture_of(Device device);

} // namespace nvfuser
