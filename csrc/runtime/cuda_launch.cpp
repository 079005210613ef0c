#include "runtime/cuda_launch.h"

namespace nvfuser {

CudaLaunch::CudaLaunch(
    const LaunchParams& launch, bool is_cooperative, CUstream stream, bool overlaps_prior_grid) {
  const auto size = [](int64_t value) { return static_cast<unsigned>(value); };
  config.grid = {size(launch.gdimx()), size(launch.gdimy()), size(launch.gdimz())};
  config.block = {size(launch.bdimx()), size(launch.bdimy()), size(launch.bdimz())};
  config.shared_bytes = size(launch.smem_bytes());
  config.stream = stream;
  config.attributes = attributes.data();
  if (launch.cluster_size() > 1) {
    CUlaunchAttribute& cluster = attributes.at(config.num_attributes++);
    cluster.id = kLaunchClusterDimension;
    cluster.value = {size(launch.cluster_size()), 1, 1};
  }
  if (is_cooperative) {
    CUlaunchAttribute& cooperative = attributes.at(config.num_attributes++);
    cooperative.id = kLaunchCooperative;
    cooperative.value = {1};
  }
  if (overlaps_prior_grid) {
    CUlaunchAttribute& overlap = attributes.at(config.num_attributes++);
    overlap.id = kLaunchProgrammaticStreamSerialization;
    overlap.value = {1};
  }
}

} // namespace nvfuser
