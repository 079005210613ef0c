// The services a CPU kernel calls: blocks on the thread pool, and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

extern "C" {

/// The C interface that generated CPU kernels are written against; the same struct is declared in
/// runtime/cpu/.
struct nvf_cpu_runtime {
  /// Run fn(frame, first, last, scratch) for ranges of blocks that cover [0, n), at once if
  /// `parallel`; returns after all have run. `scratch`: `scratch_bytes` of 64-byte aligned memory
  /// of the worker, contents undefined.
  void (*run_blocks)(
      const nvf_cpu_runtime* runtime,
      long long n,
      int parallel,
      void (*fn)(void* frame, long long first, long long last, void* scratch),
      void* frame,
      long long scratch_bytes);
  /// 64-byte aligned memory that lives until the kernel returns, for state across phases.
  void* (*allocate)(const nvf_cpu_runtime* runtime, long long bytes);
  /// Called by a kernel that checks itself: thread `second` does `what` to an element of `buffer`
  /// that `first` (-1: several) touched, and breaks a rule (RaceRule of runtime/cpu/race_copies.h).
  void (*report_race)(
      const nvf_cpu_runtime* runtime,
      int rule,
      const char* buffer,
      long long element,
      int first,
      int second,
      const char* what);
};

} // extern "C"

namespace nvfuser {

struct AlignedDelete {
  void operator()(void* memory) const;
};
using AlignedMemory = std::unique_ptr<void, AlignedDelete>;
/// 64-byte aligned; throws UserError where there is not so much memory.
[[nodiscard]] AlignedMemory allocate_aligned(int64_t bytes);

/// The services during one run of one kernel.
class CpuRuntime : public nvf_cpu_runtime {
 public:
  /// `is_serial`: run blocks one after the other, in this thread.
  explicit CpuRuntime(bool is_serial = false);
  CpuRuntime(const CpuRuntime&) = delete;
  CpuRuntime& operator=(const CpuRuntime&) = delete;
  [[nodiscard]] void* allocate_until_return(int64_t bytes) const;
  [[nodiscard]] bool is_serial() const {
    return is_serial_;
  }
  /// Keep the first race that a kernel reports.
  void keep_race(int rule, std::string buffer, std::string report) const;
  /// An error if one was reported.
  void raise_race(const std::string& kernel_name) const;

 private:
  const bool is_serial_;
  mutable std::mutex mutex_;
  mutable std::vector<AlignedMemory> memory_;
  mutable std::string race_; // empty: none
  mutable std::string buffer_of_race_;
  mutable int rule_of_race_ = 0;
};

} // namespace nvfuser
