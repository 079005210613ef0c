// CudaLaunch: a launch in the form in which the driver takes attributes: clusters, and that all
// blocks wait for each other.
#pragma once

#include <array>

#include "base/launch_params.h"
#include "runtime/cuda_driver.h"

namespace nvfuser {

struct CudaLaunch {
  /// Without attributes cuLaunchKernel does the same, in less time.
  [[nodiscard]] static bool is_needed(const LaunchParams& launch) {
    return launch.cluster_size() > 1;
  }

  CudaLaunch(const LaunchParams& launch, bool is_cooperative, CUstream stream);
  CudaLaunch(const CudaLaunch&) = delete; // `config` points to `attributes`
  CudaLaunch& operator=(const CudaLaunch&) = delete;

  std::array<CUlaunchAttribute, 2> attributes{};
  CUlaunchConfig config{};
};

} // namespace nvfuser
