#include "runtime/cuda_driver.h"

#include <atomic>
#include <memory>
#include <mutex>

#include "base/trace.h"
#include "runtime/dynamic_library.h"

namespace nvfuser {
namespace {

/// Numbers of device attributes in the driver's interface.
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxSharedBytesPerBlock = 8,
  kWarpSize = 10,
  kMaxRegistersPerBlock = 12,
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kMaxThreadsPerSm = 39,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedBytesPerSm = 81,
  kMaxRegistersPerSm = 82,
  kCooperativeLaunch = 95,
  kMaxSharedBytesPerBlockOptin = 97,
  kReservedSharedBytesPerBlock = 111,
};

std::mutex context_mutex;

} // namespace

std::optional<Refusal> CudaDriver::load() {
  std::string reason;
  DynamicLibrary library = DynamicLibrary::open("libcuda.so.1", reason);
  if (!library.is_open()) {
    return refuse_headline(reason);
  }
#define NVF_LOAD(name, symbol, parameters)                                           \
  name = reinterpret_cast<CUresult(*) parameters>(library.find(symbol));             \
  if (name == nullptr) {                                                             \
    return refuse_headline("libcuda.so.1 has no " symbol ": the driver is too old"); \
  }
  NVF_FOR_EACH_DRIVER_FUNCTION(NVF_LOAD)
#undef NVF_LOAD
#define NVF_FIND(name, symbol, parameters) \
  name = reinterpret_cast<CUresult(*) parameters>(library.find(symbol));
  NVF_FOR_EACH_HOPPER_FUNCTION(NVF_FIND)
#undef NVF_FIND
  library.release(); // the driver does not expect to be closed
  int count = 0;
  NVF_RETURN_REFUSAL(find_failure(init(0), "cuInit"));
  NVF_RETURN_REFUSAL(find_failure(device_get_count(&count), "cuDeviceGetCount"));
  if (count == 0) {
    return refuse_headline("the CUDA driver found no device");
  }
  NVF_RETURN_REFUSAL(find_failure(driver_get_version(&version_), "cuDriverGetVersion"));
  devices_.resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    NVF_RETURN_REFUSAL(find_failure(device_get(&device, i), "cuDeviceGet"));
    NVF_RETURN_REFUSAL(read_facts(devices_[static_cast<size_t>(i)], device));
  }
  return std::nullopt;
}

std::optional<Refusal> CudaDriver::read_facts(CudaDeviceInfo& info, CUdevice device) const {
  CUresult failed = 0; // the first that is no success
  const auto attribute = [&](DeviceAttribute number) {
    int value = 0;
    const CUresult result = device_get_attribute(&value, number, device);
    failed = failed == 0 ? result : failed;
    return value;
  };
  char name[256] = {};
  NVF_RETURN_REFUSAL(
      find_failure(device_get_name(name, sizeof(name) - 1, device), "cuDeviceGetName"));
  info.name = name;
  info.major = attribute(kComputeCapabilityMajor);
  info.minor = attribute(kComputeCapabilityMinor);
  info.num_sms = attribute(kMultiprocessorCount);
  info.max_shared_bytes = attribute(kMaxSharedBytesPerBlockOptin);
  info.default_shared_bytes = attribute(kMaxSharedBytesPerBlock);
  info.max_shared_bytes_per_sm = attribute(kMaxSharedBytesPerSm);
  info.reserved_shared_bytes = attribute(kReservedSharedBytesPerBlock);
  info.max_threads_per_block = attribute(kMaxThreadsPerBlock);
  info.max_threads_per_sm = attribute(kMaxThreadsPerSm);
  info.registers_per_block = attribute(kMaxRegistersPerBlock);
  info.registers_per_sm = attribute(kMaxRegistersPerSm);
  info.warp_size = attribute(kWarpSize);
  info.l2_bytes = attribute(kL2CacheSize);
  info.memory_bus_bits = attribute(kMemoryBusWidth);
  info.has_cooperative_launch = attribute(kCooperativeLaunch) != 0;
  NVF_RETURN_REFUSAL(find_failure(failed, "cuDeviceGetAttribute"));
  return find_failure(device_total_mem(&info.memory_bytes, device), "cuDeviceTotalMem");
}

const CudaDriver* CudaDriver::maybe_get(std::string* reason) {
  struct Loaded {
    CudaDriver driver;
    std::string reason;
    bool ok = false;
  };
  // Never destroyed: kernels of static lifetime unload their modules through it.
  static const Loaded& loaded = *[] {
    const TraceSpan span("load the CUDA driver");
    auto* result = new Loaded();
    const std::optional<Refusal> refusal = result->driver.load();
    result->ok = !refusal.has_value();
    result->reason = refusal ? refusal->report.str() : "";
    return result;
  }();
  if (reason != nullptr) {
    *reason = loaded.reason;
  }
  return loaded.ok ? &loaded.driver : nullptr;
}

const CudaDriver& CudaDriver::get() {
  static const CudaDriver* const driver = maybe_get(); // every launch comes by here
  if (driver == nullptr) {
    std::string reason;
    static_cast<void>(maybe_get(&reason));
    throw UserError({
        .headline = {"No CUDA device can be used."},
        .node = Part::none(),
        .expected = {"an NVIDIA driver with at least one device"},
        .found = {reason},
        .fix = {"pass CPU tensors to run on the CPU, or install the driver"},
    });
  }
  return *driver;
}

const CudaDeviceInfo& CudaDriver::device(int index) const {
  nvfuser::check(find_missing_context(index));
  return devices_[static_cast<size_t>(index)];
}

int CudaDriver::memory_clock_khz(int index) const {
  const std::atomic_ref<int> known(devices_.at(static_cast<size_t>(index)).memory_clock_khz);
  int clock = known.load(std::memory_order_relaxed);
  if (clock == 0) {
    CUdevice device = 0;
    check(device_get(&device, index), "cuDeviceGet");
    check(device_get_attribute(&clock, kMemoryClockRate, device), "cuDeviceGetAttribute");
    known.store(clock, std::memory_order_relaxed);
  }
  return clock;
}

std::optional<Refusal> CudaDriver::find_missing_context(int index) const {
  if (index < 0 || index >= num_devices()) {
    return refuse_headline({"There is no device cuda:", index, "; the driver has ", num_devices()});
  }
  // Every launch comes by here: no lock once the context is there.
  const std::atomic_ref<CUcontext> context(devices_[static_cast<size_t>(index)].context);
  if (context.load(std::memory_order_acquire) == nullptr) {
    const std::lock_guard lock(context_mutex);
    if (context.load(std::memory_order_relaxed) == nullptr) {
      CUdevice device = 0;
      CUcontext retained = nullptr;
      NVF_RETURN_REFUSAL(find_failure(device_get(&device, index), "cuDeviceGet"));
      NVF_RETURN_REFUSAL(
          find_failure(primary_ctx_retain(&retained, device), "cuDevicePrimaryCtxRetain"));
      context.store(retained, std::memory_order_release);
    }
  }
  return std::nullopt;
}

bool CudaDriver::is_capturing(CUstream stream) const {
  if (stream == nullptr) { // the legacy stream cannot be captured
    return false;
  }
  int status = 0;
  check(stream_is_capturing(stream, &status), "cuStreamIsCapturing");
  return status != 0;
}

unsigned long long CudaDriver::number_of(CUstream stream) const {
  unsigned long long number = ~0ULL; // the driver counts from 0
  if (stream != nullptr) {
    check(stream_get_id(stream, &number), "cuStreamGetId");
  }
  return number;
}

std::optional<Refusal> CudaDriver::find_failure(CUresult result, const char* what) const {
  if (result == 0) {
    return std::nullopt;
  }
  const char* name = nullptr;
  const char* text = nullptr;
  get_error_name(result, &name);
  get_error_string(result, &text);
  return refuse({
      .headline = {"CUDA driver error: ", name != nullptr ? name : "unknown"},
      .node = Part::none(),
      .expected = {what, " to succeed"},
      .found = {"error ", result, ": ", text != nullptr ? text : "unknown"},
      .fix =
          {"what an earlier kernel did wrong is often told only here, and stays until the process "
           "ends; compute-sanitizer finds the kernel"},
  });
}

void CudaContextGuard::enter(int device, Failure failure) {
  const std::optional<Refusal> refusal = try_enter(device);
  entered_ = !refusal.has_value();
  if (failure == Failure::Thrown) {
    check(refusal);
  }
}

std::optional<Refusal> CudaContextGuard::try_enter(int device) {
  NVF_RETURN_REFUSAL(driver_.find_missing_context(device));
  CUcontext wanted = driver_.device(device).context;
  CUcontext current = nullptr;
  NVF_RETURN_REFUSAL(driver_.find_failure(driver_.ctx_get_current(&current), "cuCtxGetCurrent"));
  if (current != wanted) {
    NVF_RETURN_REFUSAL(driver_.find_failure(driver_.ctx_push_current(wanted), "cuCtxPushCurrent"));
    pushed_ = true;
  }
  return std::nullopt;
}

CudaContextGuard::~CudaContextGuard() {
  if (pushed_) {
    CUcontext context = nullptr;
    driver_.ctx_pop_current(&context);
  }
}

} // namespace nvfuser
