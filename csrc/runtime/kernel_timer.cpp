#include "runtime/kernel_timer.h"

#include <utility>

#include "base/errors.h"

namespace nvfuser {

KernelTimer::KernelTimer(KernelTimer&& other) noexcept
    : device_(other.device_),
      is_started_(other.is_started_),
      is_stopped_(other.is_stopped_),
      begin_(other.begin_),
      end_(other.end_),
      begin_event_(std::exchange(other.begin_event_, nullptr)),
      end_event_(std::exchange(other.end_event_, nullptr)) {}

KernelTimer::~KernelTimer() {
  if (begin_event_ == nullptr) {
    return;
  }
  const CudaDriver* driver = CudaDriver::maybe_get();
  const CudaContextGuard guard(*driver, device_.index, CudaContextGuard::Failure::Ignored);
  for (CUevent event : {begin_event_, end_event_}) {
    if (event != nullptr && guard.is_entered()) {
      driver->event_destroy(event);
    }
  }
}

void KernelTimer::start(Device device, CUstream stream) {
  NVF_INVARIANT(!is_started_, "a timer measures once");
  device_ = device;
  is_started_ = true;
  if (device.is_cuda()) {
    constexpr unsigned kDefaultFlags = 0; // with times
    const CudaDriver& driver = CudaDriver::get();
    driver.check(driver.event_create(&begin_event_, kDefaultFlags), "cuEventCreate");
    driver.check(driver.event_create(&end_event_, kDefaultFlags), "cuEventCreate");
    driver.check(driver.event_record(begin_event_, stream), "cuEventRecord");
  } else {
    begin_ = Clock::now();
  }
}

void KernelTimer::stop(CUstream stream) {
  NVF_INVARIANT(is_started_, "what ends has begun");
  is_stopped_ = true;
  if (device_.is_cuda()) {
    const CudaDriver& driver = CudaDriver::get();
    driver.check(driver.event_record(end_event_, stream), "cuEventRecord");
  } else {
    end_ = Clock::now();
  }
}

double KernelTimer::milliseconds() const {
  if (!is_stopped_) {
    return 0;
  }
  if (!device_.is_cuda()) {
    return std::chrono::duration<double, std::milli>(end_ - begin_).count();
  }
  const CudaDriver& driver = CudaDriver::get();
  const CudaContextGuard guard(driver, device_.index);
  driver.check(driver.event_synchronize(end_event_), "cuEventSynchronize");
  float milliseconds = 0;
  driver.check(
      driver.event_elapsed_time(&milliseconds, begin_event_, end_event_), "cuEventElapsedTime");
  return milliseconds;
}

} // namespace nvfuser
