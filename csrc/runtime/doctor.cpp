#include "runtime/doctor.h"

#include "base/environment.h"
#include "base/options.h"
#include "base/thread_pool.h"
#include "runtime/cuda_driver.h"
#include "runtime/host_compiler.h"
#include "runtime/kernel_cache.h"
#include "runtime/nvrtc.h"

namespace nvfuser {
namespace {

/// "13.1" of 13010
std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string megabytes(int64_t bytes) {
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

void report_driver(std::vector<DoctorLine>& lines) {
  std::string reason;
  const CudaDriver* driver = CudaDriver::maybe_get(&reason);
  if (driver == nullptr) {
    lines.push_back(
        {"CUDA driver", "none: " + reason,
         "kernels run on the CPU; install an NVIDIA driver to run them on a GPU"});
    return;
  }
  lines.push_back({"CUDA driver", "CUDA " + cuda_version(driver->version()), ""});
  for (int i = 0; i < driver->num_devices(); ++i) {
    const CudaDeviceInfo& info = driver->device(i);
    lines.push_back(
        {"device cuda:" + std::to_string(i),
         info.name + ", compute capability " + std::to_string(info.major) + "." +
             std::to_string(info.minor) + ", " + std::to_string(info.num_sms) +
             " multiprocessors, " + megabytes(static_cast<int64_t>(info.memory_bytes)),
         ""});
  }
}

/// The wheel of an NVRTC that the driver can load the code of.
std::string nvrtc_package(const CudaDriver* driver) {
  constexpr int kCuda13 = 13000;
  const bool is_old = driver != nullptr && driver->version() < kCuda13;
  return is_old ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc";
}

void report_compilers(std::vector<DoctorLine>& lines) {
  std::string reason;
  const CudaDriver* driver = CudaDriver::maybe_get();
  if (const Nvrtc* nvrtc = Nvrtc::maybe_get(&reason)) {
    lines.push_back(
        {"NVRTC",
         std::to_string(nvrtc->version().first) + "." + std::to_string(nvrtc->version().second) +
             " (" + nvrtc->path() + ")",
         ""});
  } else {
    lines.push_back(
        {"NVRTC", "none: " + reason,
         "pip install " + nvrtc_package(driver) +
             ", or name its file in NVFUSER_NVRTC; until then no CUDA kernel is compiled"});
  }
  if (const HostCompiler* compiler = HostCompiler::maybe_get(&reason)) {
    lines.push_back({"C++ compiler", compiler->version() + " (" + compiler->command() + ")", ""});
  } else {
    lines.push_back(
        {"C++ compiler", "none: " + reason,
         std::string(
             environment_text("CXX").empty() ? "install g++ or clang++, or name one in CXX"
                                             : "name a compiler that is there in CXX, or unset CXX "
                                               "and install g++ or clang++") +
             "; until then CPU tensors are evaluated through PyTorch"});
  }
}

/// The advice where the cache is off.
const char* how_to_turn_on(const KernelCache& cache) {
  if (has_option(DisableOption::NvrtcCaching)) {
    return "take nvrtc_caching out of NVFUSER_DISABLE to keep kernels on disk";
  }
  if (!environment().keeps_kernels) {
    return "unset NVFUSER_KERNEL_CACHE to keep kernels on disk";
  }
  if (cache.folder().empty()) {
    return "set NVFUSER_CACHE_DIR to keep kernels on disk: there is no HOME";
  }
  return "set NVFUSER_CACHE_MB to more than 0 to keep kernels on disk";
}

void report_cache(std::vector<DoctorLine>& lines) {
  const KernelCache& cache = KernelCache::instance();
  if (!cache.is_enabled()) {
    lines.push_back({"kernel cache", "off", how_to_turn_on(cache)});
    return;
  }
  if (const std::string reason = cache.distrust(); !reason.empty()) {
    lines.push_back(
        {"kernel cache", cache.folder() + ", not used: " + reason,
         "chmod go-w on the folder, or set NVFUSER_CACHE_DIR to one of your own"});
    return;
  }
  lines.push_back(
      {"kernel cache",
       cache.folder() + ", " + megabytes(cache.size_bytes()) + " of " +
           megabytes(cache.max_bytes()) + "; in this process " + cache.stats().to_string(),
       ""});
}

} // namespace

std::vector<DoctorLine> doctor_report() {
  std::vector<DoctorLine> lines;
  report_driver(lines);
  report_compilers(lines);
  lines.push_back({"threads", std::to_string(get_num_threads()) + " for CPU kernels", ""});
  report_cache(lines);
  return lines;
}

} // namespace nvfuser
