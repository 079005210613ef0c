#include "runtime/kernel_executor.h"

#include <algorithm>

#include "base/errors.h"
#include "transform/concretization.h"

namespace nvfuser {

std::optional<Refusal> find_unsupported(const Fusion& fusion) {
  if (fusion.outputs().empty()) {
    return refuse({
        .headline = {"No output found for this kernel, aborting."},
        .node = Part::none(),
        .expected = Part::none(),
        .found = Part::none(),
        .fix = Part::none(),
    });
  }
  for (const Val* output : fusion.outputs()) {
    const bool is_host_scalar =
        output->is_tensor() && static_cast<const TensorView*>(output)->is_cpu_scalar();
    if (!output->is_tensor() || is_host_scalar) {
      return refuse(
          {
              .headline = {"KernelExecutor does not support the Fusion provided."},
              .node = describe(output),
              .expected = {"outputs that a kernel writes to device memory"},
              .found = {is_host_scalar ? "an output in host memory" : "a scalar output"},
              .fix = {"execute the definition with FusionExecutorCache, or compute it outside"},
          },
          ErrorKind::NotImplemented);
    }
  }
  return find_unresolved(fusion);
}

KernelExecutor::KernelExecutor(
    int64_t fusion_id, int64_t concrete_id, int64_t runtime_id, int64_t group_id)
    : fusion_id_(fusion_id),
      concrete_id_(concrete_id),
      runtime_id_(runtime_id),
      group_id_(group_id) {
  NVF_USER_CHECK(
      std::min({fusion_id, concrete_id, runtime_id, group_id}) >= 0,
      "The numbers of a kernel are part of its name: they cannot be negative");
}

void KernelExecutor::compile(
    const Fusion& fusion,
    std::span<const Argument> args,
    const LaunchParams& launch_constraints,
    const CompileParams& compile_params,
    SchedulerType scheduler_type) {
  check(find_unsupported(fusion));
  const KernelIdentity identity{scheduler_type, fusion_id_, concrete_id_, runtime_id_, group_id_};
  auto program = std::make_shared<KernelProgram>(
      std::make_shared<ScheduledFusion>(fusion), identity, launch_constraints, compile_params);
  program->compile(args);
  const std::lock_guard lock(mutex_);
  program_.swap(program); // what it was before goes when the lock is free
}

std::vector<RunOutput> KernelExecutor::run(
    std::span<const Argument> args,
    OutputAllocator& allocator,
    const LaunchParams& launch_constraints,
    const CompileParams& compile_params) {
  const std::shared_ptr<KernelProgram> current = program();
  NVF_USER_CHECK(current != nullptr, "Cannot run fusion, it was not compiled.");
  return current->run(args, allocator, launch_constraints, compile_params);
}

bool KernelExecutor::is_programmatic_dependent_launch_enabled() const {
  const std::shared_ptr<KernelProgram> current = program();
  const auto compiled = current == nullptr ? nullptr : current->last_compiled();
  return compiled != nullptr && compiled->recipe.waits_for_prior_grid;
}

std::shared_ptr<KernelProgram> KernelExecutor::program() const {
  const std::lock_guard lock(mutex_);
  return program_;
}

} // namespace nvfuser
