#include "runtime/cpu_runtime.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/errors.h"
#include "base/thread_pool.h"

namespace nvfuser {
namespace {

constexpr size_t kCacheLine = 64;

/// The scratch memory of a thread: grows to the largest kernel it ran. A kernel run from within a
/// block (nested executors) gets memory of its own.
class Scratch {
 public:
  explicit Scratch(int64_t bytes) : is_nested_(in_use_) {
    if (is_nested_) {
      own_ = allocate_aligned(bytes);
      data_ = own_.get();
      return;
    }
    if (bytes > shared_bytes_) {
      shared_.reset();
      shared_bytes_ = 0;
      shared_ = allocate_aligned(bytes);
      shared_bytes_ = bytes;
    }
    data_ = shared_.get();
    in_use_ = true;
  }
  ~Scratch() {
    if (!is_nested_) {
      in_use_ = false;
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] void* data() const {
    return data_;
  }

 private:
  static thread_local bool in_use_;
  static thread_local AlignedMemory shared_;
  static thread_local int64_t shared_bytes_;
  const bool is_nested_;
  AlignedMemory own_;
  void* data_ = nullptr;
};

thread_local bool Scratch::in_use_ = false;
thread_local AlignedMemory Scratch::shared_;
thread_local int64_t Scratch::shared_bytes_ = 0;

void run_blocks_on_pool(
    const nvf_cpu_runtime* runtime,
    long long n,
    int parallel,
    void (*fn)(void* frame, long long first, long long last, void* scratch),
    void* frame,
    long long scratch_bytes) {
  const auto run = [&](int64_t first, int64_t last) {
    const Scratch scratch(scratch_bytes);
    fn(frame, first, last, scratch.data());
  };
  const bool is_serial = static_cast<const CpuRuntime*>(runtime)->is_serial();
  if (parallel == 0 || n <= 1 || is_serial || is_in_parallel_region()) {
    run(0, n);
    return;
  }
  // Pieces small enough to even out blocks of unequal cost, large enough to be worth handing out.
  constexpr int64_t kPiecesPerThread = 8;
  const int64_t grain = std::max<int64_t>(1, n / (kPiecesPerThread * get_num_threads()));
  parallel_for(0, n, grain, run);
}

void* allocate_for_kernel(const nvf_cpu_runtime* runtime, long long bytes) {
  return static_cast<const CpuRuntime*>(runtime)->allocate_until_return(bytes);
}

/// The parts of the error for an access to shared memory that a kernel found to be wrong.
struct RaceRule {
  const char* headline;
  const char* of_other; // what the other thread did to the element
  const char* expected;
  const char* lacks;
};

/// The order is that of RaceRule in runtime/cpu/race_copies.h.
constexpr std::array<RaceRule, 5> kRaceRules{{
    {"Threads race on shared memory", " touched since the last barrier",
     "a barrier between two threads that touch one element, if one of them writes", "a barrier"},
    {"Threads race on shared memory: a bulk copy reads before a fence",
     " wrote without a fence and a barrier",
     "a fence of the async proxy (FenceAsyncProxy) by the threads that write, and then a barrier, "
     "before a bulk copy or a product of warpgroups reads the element",
     "a fence"},
    {"Threads race on shared memory: a copy has not arrived", " copies without a wait",
     "a wait for the group of the copy (AsyncWait), and a barrier if another thread waited, before "
     "the element is touched",
     "a wait"},
    {"Threads race on shared memory: a bulk copy may still read", " stores without a wait",
     "a wait of the thread that stores (BulkStoreWait), and a barrier if another thread writes, "
     "before the element changes or its block ends",
     "a wait"},
    {"Threads race on global memory: a bulk copy may still write", " stores without a wait",
     "a wait of the thread that stores for its copies to end (BulkStoreWait(only_reads=false)), "
     "before its block ends",
     "a wait"},
}};

void report_race_to_runtime(
    const nvf_cpu_runtime* runtime,
    int rule,
    const char* buffer,
    long long element,
    int first,
    int second,
    const char* what) {
  const std::string other = first < 0 ? "other threads" : "thread " + std::to_string(first);
  static_cast<const CpuRuntime*>(runtime)->keep_race(
      rule, buffer,
      "thread " + std::to_string(second) + " " + what + " element " + std::to_string(element) +
          " of " + buffer + ", which " + other + kRaceRules.at(static_cast<size_t>(rule)).of_other);
}

} // namespace

void AlignedDelete::operator()(void* memory) const {
  std::free(memory);
}

AlignedMemory allocate_aligned(int64_t bytes) {
  const size_t size =
      (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + kCacheLine - 1) / kCacheLine * kCacheLine;
  AlignedMemory memory(std::aligned_alloc(kCacheLine, size));
  if (memory == nullptr) {
    throw UserError({
        .headline = {"A CPU kernel needs more memory than there is."},
        .node = Part::none(),
        .expected = {"less memory for the state of its blocks"},
        .found = {bytes, " bytes"},
        .fix = {"use smaller blocks, or keep less state across grid synchronisations"},
    });
  }
  return memory;
}

CpuRuntime::CpuRuntime(bool is_serial)
    : nvf_cpu_runtime{run_blocks_on_pool, allocate_for_kernel, report_race_to_runtime},
      is_serial_(is_serial) {}

void CpuRuntime::keep_race(int rule, std::string buffer, std::string report) const {
  const std::lock_guard lock(mutex_);
  if (race_.empty()) {
    race_ = std::move(report);
    buffer_of_race_ = std::move(buffer);
    rule_of_race_ = rule;
  }
}

void CpuRuntime::raise_race(const std::string& kernel_name) const {
  if (race_.empty()) {
    return;
  }
  const RaceRule& rule = kRaceRules.at(static_cast<size_t>(rule_of_race_));
  throw UserError({
      .headline = {rule.headline},
      .node = {buffer_of_race_, " of kernel ", kernel_name},
      .expected = {rule.expected},
      .found = {race_},
      .fix =
          {"this kernel lacks ", rule.lacks,
           "; if it was not changed by hand, please report a bug"},
  });
}

void* CpuRuntime::allocate_until_return(int64_t bytes) const {
  AlignedMemory memory = allocate_aligned(bytes);
  const std::lock_guard lock(mutex_);
  memory_.push_back(std::move(memory));
  return memory_.back().get();
}

} // namespace nvfuser
