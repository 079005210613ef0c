// CudaLaunch: a launch in the form in which the driver takes attributes: clusters, that all blocks
// wait for each other, and that the grid may begin while the one before it runs.
#pragma once

#include <array>

#include "base/launch_params.h"
#include "runtime/cuda_driver.h"

namespace nvfuser {

struct CudaLaunch {
  /// Without attributes cuLaunchKernel does the same, in less time.
  [[nodiscard]] static bool is_needed(const LaunchParams& launch, bool overlaps_prior_grid) {
    return launch.cluster_size() > 1 || overlaps_prior_grid;
  }

  CudaLaunch(
      const LaunchParams& launch,
      bool is_cooperative,
      CUstream stream,
      bool overlaps_prior_grid = false);
  CudaLaunch(const CudaLaunch&) = delete; // `config` points to `attributes`
  CudaLaunch& operator=(const CudaLaunch&) = delete;

  std::array<CUlaunchAttribute, 3> attributes{};
  CUlaunchConfig config{};
};

} // namespace nvfuser
