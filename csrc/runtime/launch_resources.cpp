#include "runtime/launch_resources.h"

#include <algorithm>

#include "base/errors.h"
#include "base/register_file.h"
#include "runtime/cuda_launch.h"
#include "runtime/launch_plan.h"

namespace nvfuser {
namespace {

/// Registers of a thread if a block of this launch is to fit.
int64_t register_limit(const LaunchPlan& plan, int64_t registers_per_block) {
  constexpr Target kTarget = Target::cuda();
  const int64_t limit =
      registers_of_thread(kTarget, registers_per_block, plan.launch.num_threads());
  return std::max(limit, kTarget.register_granularity);
}

std::optional<Refusal> find_too_much_memory(
    const LaunchPlan& plan, int64_t static_bytes, int64_t limit) {
  const int64_t dynamic_bytes = plan.launch.smem_bytes();
  if (dynamic_bytes + static_bytes <= limit) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"The total shared memory allocation is larger than available memory."},
      .node = {"kernel ", plan.code->name},
      .expected = {"at most ", limit, " bytes for a block on ", plan.device.str()},
      .found = {dynamic_bytes, " dynamic + ", static_bytes, " static bytes"},
      .fix = {"use smaller tiles, or keep fewer tensors in shared memory"},
  });
}

/// `shown`: `resident`, and where they are.
std::optional<Refusal> find_too_many_blocks(
    const LaunchPlan& plan, int64_t resident, const Part& shown) {
  if (plan.launch.num_blocks() <= resident) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"Wanted to launch a cooperative kernel, however the number of blocks is greater"
                   " than what can be resident on the GPU at once."},
      .node = {"kernel ", plan.code->name},
      .expected = {"at most ", shown.text()},
      .found = {plan.launch.num_blocks(), " blocks of ", plan.launch.num_threads(), " threads"},
      .fix = {"let blocks do more work, or use fewer registers or less shared memory"},
  });
}

std::optional<Refusal> find_too_many_blocks(
    const LaunchPlan& plan, const CudaDriver& driver, const CudaDeviceInfo& info) {
  int per_sm = 0;
  driver.check(
      driver.occupancy_max_active_blocks(
          &per_sm, plan.function, static_cast<int>(plan.launch.num_threads()),
          static_cast<size_t>(plan.launch.smem_bytes())),
      "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  const int64_t resident = info.has_cooperative_launch ? int64_t{per_sm} * info.num_sms : 0;
  return find_too_many_blocks(
      plan, resident,
      Part{resident, " blocks (", per_sm, " on each of ", info.num_sms, " multiprocessors)"});
}

std::optional<Refusal> find_too_many_clusters(
    const LaunchPlan& plan, const CudaDriver& driver, const CudaDeviceInfo& info) {
  const int64_t blocks = plan.launch.cluster_size();
  plan.code->cuda->allow_clusters(driver, plan.device.index, blocks);
  CudaLaunch launch(plan.launch, /*is_cooperative=*/false, nullptr);
  int clusters = 0;
  driver.check(
      driver.occupancy_max_active_clusters(&clusters, plan.function, &launch.config),
      "cuOccupancyMaxActiveClusters");
  if (clusters == 0) {
    return refuse({
        .headline = {"No cluster of ", blocks, " blocks fits on the device."},
        .node = {"kernel ", plan.code->name},
        .expected =
            {"blocks of which ", blocks,
             " find room on neighbouring multiprocessors at the same time"},
        .found =
            {plan.launch.num_threads(), " threads, ", plan.launch.smem_bytes(),
             " bytes of shared memory in each block"},
        .fix = {"split the clustered axis by less, or let blocks use less shared memory"},
    });
  }
  if (!plan.is_cooperative) {
    return std::nullopt;
  }
  const int64_t resident = info.has_cooperative_launch ? clusters * blocks : 0;
  return find_too_many_blocks(
      plan, resident, Part{resident, " blocks (", clusters, " clusters of ", blocks, ")"});
}

} // namespace

std::optional<Refusal> plan_resources(LaunchPlan& plan) {
  if (plan.is_empty) {
    return std::nullopt;
  }
  if (plan.device.is_cpu()) {
    // One block has what all threads of its cluster exchange.
    return find_too_much_memory(
        plan, 0, Target::cpu().max_shared_bytes * plan.launch.cluster_size());
  }
  const CudaDriver& driver = CudaDriver::get();
  const CudaContextGuard guard(driver, plan.device.index);
  const CudaDeviceInfo& info = driver.device(plan.device.index);
  const CudaFunction& function = plan.code->cuda->on_device(driver, plan.device.index);
  plan.function = function.function;
  NVF_RETURN_REFUSAL(
      find_too_much_memory(plan, function.static_shared_bytes, info.max_shared_bytes));
  plan.code->cuda->allow_shared_bytes(driver, plan.device.index, plan.launch.smem_bytes());
  if (plan.launch.num_threads() > function.max_threads) {
    plan.register_limit = register_limit(plan, info.registers_per_block);
  }
  if (plan.register_limit == 0 && plan.launch.cluster_size() > 1) {
    return find_too_many_clusters(plan, driver, info);
  }
  if (plan.register_limit == 0 && plan.is_cooperative) {
    return find_too_many_blocks(plan, driver, info);
  }
  return std::nullopt;
}

} // namespace nvfuser
