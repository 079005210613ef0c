#include "runtime/profiler.h"

#include <algorithm>
#include <atomic>
#include <iomanip>
#include <iostream>
#include <set>
#include <sstream>
#include <tuple>

#include "base/errors.h"
#include "base/options.h"

namespace nvfuser {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNotAsked = -1;
constexpr double kBytesPerGigabyte = 1e9;
constexpr double kMillisecondsPerSecond = 1e3;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// A launch: its facts, and the timer that knows the rest as soon as the device is done.
struct MeasuredKernel {
  KernelProfile facts;
  KernelTimer timer;
};

struct Run {
  int64_t fusion_id = -1;
  std::string label; // empty: kernels name their schedulers
  Clock::time_point begin = Clock::now();
  double host_ms = 0;
  std::optional<std::pair<int64_t, int64_t>> bytes; // in, out
  bool has_parts = false;                           // several fusions run one behind another
  int64_t first_segment = 0;                        // of the part that runs
  bool verbose = false;
  KernelTimer span;
  std::vector<MeasuredKernel> kernels;
};

struct ThreadProfiles {
  std::unique_ptr<Run> open;
  std::unique_ptr<Run> last;
};

ThreadProfiles& profiles() {
  static thread_local ThreadProfiles result;
  return result;
}

std::string triple(int64_t x, int64_t y, int64_t z) {
  return "[" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + "]";
}

/// Transfer rate of a device's memory, GB/s; 0 where it is not known.
double peak_bandwidth_gbs(int64_t device) {
  if (device < 0) {
    return 0;
  }
  constexpr double kTransfersPerClock = 2;
  const CudaDriver& driver = CudaDriver::get();
  const auto index = static_cast<int>(device);
  return kTransfersPerClock * driver.memory_clock_khz(index) * 1e3 *
         driver.device(index).memory_bus_bits / 8 / kBytesPerGigabyte;
}

double bandwidth_gbs(int64_t bytes, double milliseconds) {
  return milliseconds > 0 ? static_cast<double>(bytes) / kBytesPerGigabyte / milliseconds *
                                kMillisecondsPerSecond
                          : 0;
}

double percentage(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

/// Does the caller want times of kernels?
bool times_kernels() {
  return !has_option(ProfOption::EnableNocupti) && !has_option(ProfOption::PrintNocupti);
}

int64_t bytes_of_inputs(std::span<const Argument> args) {
  int64_t bytes = 0;
  for (const Argument& arg : args) {
    if (const auto* tensor = std::get_if<TensorArg>(&arg)) {
      bytes += bytes_of(*tensor);
    }
  }
  return bytes;
}

int64_t bytes_of_outputs(const LaunchPlan& plan) {
  int64_t bytes = 0;
  for (const PlannedBuffer& buffer : plan.buffers) {
    if (buffer.source != PlannedBuffer::Source::Workspace) {
      bytes += storage_bytes(buffer.dtype, buffer.layout.elements);
    }
  }
  return bytes;
}

/// The facts that any segment has: its name and place.
KernelProfile facts_of(
    const KernelIdentity& identity, Device device, CUstream stream, const Run& run) {
  static std::atomic<int64_t> num_launches = 0;
  KernelProfile facts;
  facts.name = identity.name();
  facts.segment_id = run.first_segment + identity.group_id;
  facts.device = device.is_cuda() ? device.index : -1;
  facts.stream = reinterpret_cast<intptr_t>(stream);
  facts.correlation_id = ++num_launches;
  facts.grid_str = facts.block_str = facts.cluster_str = triple(0, 0, 0);
  facts.shared_mem_str = "[0, 0]";
  facts.scheduler = run.label.empty() ? enum_name(identity.scheduler) : run.label;
  return facts;
}

KernelProfile facts_of(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    const KernelIdentity& identity,
    CUstream stream,
    const Run& run) {
  const LaunchParams& launch = plan.launch;
  const CompiledKernel& code = *plan.code;
  KernelProfile facts = facts_of(identity, plan.device, stream, run);
  facts.name = code.name.substr(std::min(code.name.find("nvfuser"), code.name.size()));
  if (code.compiled_at >= run.begin) {
    facts.compile_time_ms = code.lowering_ms + code.compilation_ms;
  }
  facts.grid_str = triple(launch.gdimx(), launch.gdimy(), launch.gdimz());
  facts.block_str = triple(launch.bdimx(), launch.bdimy(), launch.bdimz());
  facts.cluster_str = triple(launch.cluster_size(), 1, 1);
  int64_t static_bytes = 0;
  if (plan.device.is_cuda()) {
    const CudaFunction& function = code.cuda->on_device(CudaDriver::get(), plan.device.index);
    static_bytes = function.static_shared_bytes;
    facts.registers = function.registers;
  }
  facts.shared_mem_str =
      "[" + std::to_string(launch.smem_bytes()) + ", " + std::to_string(static_bytes) + "]";
  facts.input_bytes = bytes_of_inputs(args);
  facts.output_bytes = bytes_of_outputs(plan);
  return facts;
}

/// The measurements, as soon as the device is done.
FusionProfile evaluate(const Run& run) {
  FusionProfile result;
  result.verbose = run.verbose;
  result.fusion_id = run.fusion_id;
  result.host_time_ms = run.host_ms;
  result.cuda_evt_time_ms = run.span.milliseconds();
  double peak_gbs = 0;
  std::set<int64_t> segments;
  for (const MeasuredKernel& kernel : run.kernels) {
    KernelProfile profile = kernel.facts;
    const double kernel_peak_gbs = peak_bandwidth_gbs(profile.device);
    profile.time_ms = kernel.timer.milliseconds();
    profile.effective_bandwidth_gbs =
        bandwidth_gbs(profile.input_bytes + profile.output_bytes, profile.time_ms);
    profile.percentage_peak_bandwidth =
        percentage(profile.effective_bandwidth_gbs, kernel_peak_gbs);
    result.compile_time_ms += profile.compile_time_ms;
    result.kernel_time_ms += profile.time_ms;
    result.input_bytes += profile.input_bytes;
    result.output_bytes += profile.output_bytes;
    peak_gbs = std::max(peak_gbs, kernel_peak_gbs);
    segments.insert(profile.segment_id);
    result.kernel_profiles.push_back(std::move(profile));
  }
  result.segments = static_cast<int64_t>(segments.size());
  if (run.bytes) {
    std::tie(result.input_bytes, result.output_bytes) = *run.bytes;
  }
  result.effective_bandwidth_gbs =
      bandwidth_gbs(result.input_bytes + result.output_bytes, result.kernel_time_ms);
  result.percentage_peak_bandwidth = percentage(result.effective_bandwidth_gbs, peak_gbs);
  return result;
}

/// The context of a device that has one.
class ContextOf {
 public:
  explicit ContextOf(Device device) {
    if (device.is_cuda()) {
      guard_.emplace(CudaDriver::get(), device.index);
    }
  }

 private:
  std::optional<CudaContextGuard> guard_;
};

/// The open run is over.
void close_run() {
  ThreadProfiles& state = profiles();
  state.open->host_ms = milliseconds_since(state.open->begin);
  state.last = std::move(state.open);
  const bool prints_verbose = has_option(ProfOption::PrintVerbose);
  const bool prints =
      prints_verbose || has_option(ProfOption::Print) || has_option(ProfOption::PrintNocupti);
  state.last->verbose = prints_verbose;
  if (prints) {
    std::cout << evaluate(*state.last).to_string() << std::flush;
  }
}

} // namespace

constinit thread_local int detail::profiling_depth = kNotAsked;

bool detail::is_profiling_slow() {
  if (profiling_depth == kNotAsked) {
    profiling_depth = is_profiling_requested() ? 1 : 0;
  }
  return profiling_depth != 0;
}

void start_profiling() {
  static_cast<void>(is_profiling()); // asks the environment
  ++detail::profiling_depth;
}

void stop_profiling() {
  NVF_USER_CHECK(
      detail::profiling_depth > 0, "stop_profiling without the start_profiling it belongs to");
  --detail::profiling_depth;
}

void reset_profiler() {
  profiles() = {};
}

FusionProfile fusion_profile() {
  const ThreadProfiles& state = profiles();
  NVF_USER_CHECK(
      state.last != nullptr,
      "The FusionProfile struct data is not valid because it has not been processed!");
  NVF_USER_CHECK(
      state.last->fusion_id >= 0,
      "Something went wrong with Fusion Profiling as an illegal fusion_id was returned! ",
      state.last->fusion_id);
  NVF_USER_CHECK(
      !state.last->kernels.empty(),
      "Something went wrong with Fusion Profiling as no kernel segments were profiled!");
  return evaluate(*state.last);
}

ProfiledRun::ProfiledRun(int64_t fusion_id) : is_outermost_(profiles().open == nullptr) {
  ThreadProfiles& state = profiles();
  if (is_outermost_) {
    state.open = std::make_unique<Run>();
  }
  if (state.open->fusion_id < 0) {
    state.open->fusion_id = fusion_id;
  }
}

ProfiledRun::~ProfiledRun() {
  if (is_outermost_ && !is_finished_) {
    profiles().open.reset();
  }
}

void ProfiledRun::measure(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    const KernelIdentity& identity,
    CUstream stream,
    const std::function<void(KernelTimer*)>& enqueue) {
  Run& run = *profiles().open;
  const ContextOf context(plan.device);
  if (!run.span.is_started()) {
    run.span.start(plan.device, stream);
  }
  MeasuredKernel kernel{facts_of(plan, args, identity, stream, run), {}};
  enqueue(times_kernels() ? &kernel.timer : nullptr);
  run.span.stop(stream);
  run.kernels.push_back(std::move(kernel));
}

std::vector<RunOutput> ProfiledRun::launch(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    OutputAllocator& allocator,
    const KernelIdentity& identity) {
  if (plan.is_empty) {
    return nvfuser::launch(plan, args, allocator);
  }
  CUstream stream = nullptr;
  if (plan.device.is_cuda()) {
    stream = static_cast<CUstream>(allocator.current_stream(plan.device));
  }
  std::vector<RunOutput> outputs;
  measure(plan, args, identity, stream, [&](KernelTimer* timer) {
    outputs = nvfuser::launch(plan, args, allocator, timer);
  });
  return outputs;
}

void ProfiledRun::set_bytes(int64_t input_bytes, int64_t output_bytes) {
  Run& run = *profiles().open;
  if (!run.has_parts) {
    run.bytes.emplace(input_bytes, output_bytes);
  }
}

void ProfiledRun::finish() {
  is_finished_ = true;
  if (is_outermost_) {
    close_run();
  }
}

ProfiledEvaluation::ProfiledEvaluation(
    Device device, CUstream stream, const KernelIdentity& identity)
    : device_(device),
      stream_(stream),
      facts_(facts_of(identity, device, stream, *profiles().open)) {
  const ContextOf context(device_);
  Run& run = *profiles().open;
  if (!run.span.is_started()) {
    run.span.start(device_, stream_);
  }
  if (times_kernels()) {
    timer_.start(device_, stream_);
  }
}

void ProfiledEvaluation::finish(int64_t input_bytes, int64_t output_bytes) {
  const ContextOf context(device_);
  Run& run = *profiles().open;
  if (timer_.is_started()) {
    timer_.stop(stream_);
  }
  run.span.stop(stream_);
  facts_.input_bytes = input_bytes;
  facts_.output_bytes = output_bytes;
  run.kernels.push_back({std::move(facts_), std::move(timer_)});
}

void open_profiled_run(const std::string& label, int64_t fusion_id) {
  ThreadProfiles& state = profiles();
  NVF_USER_CHECK(
      state.open == nullptr,
      "A run is profiled already; reset_profiler() drops what an error left");
  state.open = std::make_unique<Run>();
  state.open->label = label;
  state.open->fusion_id = fusion_id;
}

bool is_profiled_run_open() {
  return profiles().open != nullptr;
}

void begin_profiled_part(const std::string& label) {
  NVF_USER_CHECK(is_profiled_run_open(), "No run is profiled that could have parts");
  Run& run = *profiles().open;
  run.label = label;
  run.has_parts = true;
  for (const MeasuredKernel& kernel : run.kernels) {
    run.first_segment = std::max(run.first_segment, kernel.facts.segment_id + 1);
  }
}

void close_profiled_run() {
  NVF_USER_CHECK(profiles().open != nullptr, "No run is profiled that could be closed");
  close_run();
}

int64_t bytes_of(const TensorArg& tensor) {
  int64_t elements = 1;
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    // An expanded dimension is one element, as often as it is read.
    const bool is_expanded = tensor.stride_data[dim] == 0 && tensor.size_data[dim] > 1;
    elements *= is_expanded ? 1 : tensor.size_data[dim];
  }
  return storage_bytes(tensor.dtype, elements);
}

namespace {

/// Rows of texts, in columns as wide as they need to be; the first row is the head.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::ostringstream out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out << (i == 0 ? "" : "  ") << std::setw(static_cast<int>(widths[i])) << row[i];
    }
    out << "\n";
  }
  return out.str();
}

std::string fixed(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(3) << value;
  return out.str();
}

} // namespace

std::string FusionProfile::to_string() const {
  std::vector<std::vector<std::string>> rows = {
      {"Fus#", "NSegs", "CuEvtTm(ms)", "HstTm(ms)", "CmpTm(ms)", "KerTm(ms)", "EffBw(GB/s)",
       "%PeakBw"},
      {std::to_string(fusion_id), std::to_string(segments), fixed(cuda_evt_time_ms),
       fixed(host_time_ms), fixed(compile_time_ms), fixed(kernel_time_ms),
       fixed(effective_bandwidth_gbs), fixed(percentage_peak_bandwidth)}};
  std::string result = table(rows);
  rows = {
      {"S-Seg#", "S-KerTm(ms)", "S-CmpTm(ms)", "S-EffBw(GB/s)", "S-%PeakBw", "S-In(MB)",
       "S-Out(MB)"}};
  if (verbose) {
    for (const char* column :
         {"S-Grid", "S-Block", "S-Cluster", "S-Smem[Dyn,Stat]", "S-Regs", "S-Sched", "S-Dev",
          "S-Stm"}) {
      rows.front().emplace_back(column);
    }
  }
  rows.front().emplace_back("S-KerName");
  constexpr double kBytesPerMegabyte = 1e6;
  for (const KernelProfile& kernel : kernel_profiles) {
    std::vector<std::string> row = {
        std::to_string(kernel.segment_id),
        fixed(kernel.time_ms),
        fixed(kernel.compile_time_ms),
        fixed(kernel.effective_bandwidth_gbs),
        fixed(kernel.percentage_peak_bandwidth),
        fixed(static_cast<double>(kernel.input_bytes) / kBytesPerMegabyte),
        fixed(static_cast<double>(kernel.output_bytes) / kBytesPerMegabyte)};
    if (verbose) {
      row.insert(
          row.end(), {kernel.grid_str, kernel.block_str, kernel.cluster_str, kernel.shared_mem_str,
                      std::to_string(kernel.registers), kernel.scheduler,
                      std::to_string(kernel.device), std::to_string(kernel.stream)});
    }
    row.push_back(kernel.name);
    rows.push_back(std::move(row));
  }
  return result + table(rows);
}

} // namespace nvfuser
