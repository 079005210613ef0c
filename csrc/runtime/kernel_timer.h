// KernelTimer: how long a device works on something. On CUDA two events on the stream, which cost
// the host next to nothing; on the CPU, where a launch returns when its kernel has ended, the
// clock.
#pragma once

#include <chrono>

#include "base/device.h"
#include "runtime/cuda_driver.h"

namespace nvfuser {

class KernelTimer {
 public:
  KernelTimer() = default;
  KernelTimer(const KernelTimer&) = delete;
  KernelTimer& operator=(const KernelTimer&) = delete;
  KernelTimer(KernelTimer&& other) noexcept;
  KernelTimer& operator=(KernelTimer&&) = delete;
  ~KernelTimer();

  /// Work that comes onto `stream` from now on counts. Requires: `device`'s context is current.
  void start(Device device, CUstream stream);
  /// Work that comes later does not count. A second call moves the end.
  void stop(CUstream stream);
  [[nodiscard]] bool is_started() const {
    return is_started_;
  }
  /// The time between; waits until the device has come so far. 0 if nothing was measured.
  [[nodiscard]] double milliseconds() const;

 private:
  using Clock = std::chrono::steady_clock;

  Device device_;
  bool is_started_ = false;
  bool is_stopped_ = false;
  Clock::time_point begin_;
  Clock::time_point end_;
  CUevent begin_event_ = nullptr; // on CUDA
  CUevent end_event_ = nullptr;
};

} // namespace nvfuser
