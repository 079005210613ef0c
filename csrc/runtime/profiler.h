// Profiler: what a run of a fusion cost: time on the host, in compilers and on the device, and the
// bytes that were moved.
//
//   start_profiling();
//   executor.run(...);                    // every run of this thread is measured
//   fusion_profile().kernel_time_ms;      // of the last one
//   stop_profiling();
//
// Profiles belong to a thread, as options do. A *run* is open from its first kernel to its end; a
// caller that launches several kernels for one fusion opens it around them. Each kernel becomes a
// KernelProfile, and so does what a library computes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernel_identity.h"
#include "runtime/kernel_timer.h"
#include "runtime/launch.h"

namespace nvfuser {

/// One launch of one kernel, or one call of a library.
struct KernelProfile {
  std::string name; // nvfuser_...
  int64_t segment_id = 0;
  int64_t device = 0;         // CUDA device; -1 for the CPU
  int64_t stream = 0;         // its handle; 0 is the default stream
  int64_t correlation_id = 0; // launches of this process, counted from 1
  double compile_time_ms = 0; // 0 for code that was there before the run
  double time_ms = 0;         // on the device
  double effective_bandwidth_gbs = 0;
  double percentage_peak_bandwidth = 0; // 0 on the CPU, whose peak is not known
  std::string grid_str;                 // "[x, y, z]"
  std::string block_str;
  std::string cluster_str;
  std::string shared_mem_str; // "[dynamic, static]", bytes
  int64_t registers = 0;      // of a thread; 0 on the CPU
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
  std::string scheduler;
};

/// One run of one fusion.
struct FusionProfile {
  bool verbose = false;
  int64_t fusion_id = -1;
  int64_t segments = 0;
  double cuda_evt_time_ms = 0; // on the device, gaps between kernels included
  double host_time_ms = 0;     // until the last kernel was launched, compilation included
  double compile_time_ms = 0;  // of all kernels
  double kernel_time_ms = 0;   // of all kernels
  double effective_bandwidth_gbs = 0;
  double percentage_peak_bandwidth = 0;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
  std::vector<KernelProfile> kernel_profiles;

  /// A table for people; with `verbose` all columns.
  [[nodiscard]] std::string to_string() const;
};

namespace detail {
extern constinit thread_local int profiling_depth; // kNotAsked: the environment decides
[[nodiscard]] bool is_profiling_slow();
} // namespace detail

/// Are runs of this thread measured? A launch pays no more than this test for profiling that is
/// off.
[[nodiscard]] inline bool is_profiling() {
  return detail::profiling_depth != 0 && detail::is_profiling_slow();
}

/// Measure runs of this thread until the `stop_profiling` that belongs to it.
void start_profiling();
void stop_profiling();
/// Forget all profiles of this thread, also one that is half done.
void reset_profiler();
/// The last run of this thread. Throws UserError if there is none or it had no kernels.
[[nodiscard]] FusionProfile fusion_profile();

/// A run that is being measured. One that is opened while another is open becomes part of that one.
class ProfiledRun {
 public:
  explicit ProfiledRun(int64_t fusion_id);
  /// Drops the run unless it was finished.
  ~ProfiledRun();
  ProfiledRun(const ProfiledRun&) = delete;
  ProfiledRun& operator=(const ProfiledRun&) = delete;

  /// Call `enqueue`, which launches `plan` on `stream` and lets the timer, if it gets one, measure
  /// the kernel.
  void measure(
      const LaunchPlan& plan,
      std::span<const Argument> args,
      const KernelIdentity& identity,
      CUstream stream,
      const std::function<void(KernelTimer*)>& enqueue);
  /// nvfuser::launch, measured.
  [[nodiscard]] std::vector<RunOutput> launch(
      const LaunchPlan& plan,
      std::span<const Argument> args,
      OutputAllocator& allocator,
      const KernelIdentity& identity);
  /// The bytes of the fusion's own inputs and outputs; otherwise those of its kernels are added up.
  void set_bytes(int64_t input_bytes, int64_t output_bytes);
  /// The run is over: it becomes the last run of this thread.
  void finish();

 private:
  const bool is_outermost_;
  bool is_finished_ = false;
};

/// A computation by a library where a fusion has no kernel, from here to `finish`: a segment of the
/// open run.
class ProfiledEvaluation {
 public:
  /// Requires: a run is open; the library's work comes onto `stream`.
  ProfiledEvaluation(Device device, CUstream stream, const KernelIdentity& identity);
  void finish(int64_t input_bytes, int64_t output_bytes);

 private:
  const Device device_;
  const CUstream stream_;
  KernelProfile facts_;
  KernelTimer timer_;
};

/// As ProfiledRun, for callers that have no scope: all kernels until `close_profiled_run` are one
/// run, whose scheduler is called `label`; where that is empty, kernels name theirs. A negative
/// `fusion_id`: that of the first fusion that runs.
void open_profiled_run(const std::string& label, int64_t fusion_id = -1);
/// Whether there is one on this thread.
[[nodiscard]] bool is_profiled_run_open();
/// The next step of the open run is a fusion of its own, with `label` as above: its segments count
/// behind those so far.
void begin_profiled_part(const std::string& label = "");
void close_profiled_run();

/// Bytes of the elements of a tensor that have an address of their own.
[[nodiscard]] int64_t bytes_of(const TensorArg& tensor);

} // namespace nvfuser
