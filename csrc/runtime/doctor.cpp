#include "runtime/doctor.h"

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

void report_compilers(std::vector<DoctorLine>& lines) {
  std::string reason;
  if (const Nvrtc* nvrtc = Nvrtc::maybe_get(&reason)) {
    lines.push_back(
        {"NVRTC",
         std::to_string(nvrtc->version().first) + "." + std::to_string(nvrtc->version().second) +
             " (" + nvrtc->path() + ")",
         ""});
  } else {
    lines.push_back(
        {"NVRTC", "none: " + reason,
         "pip install nvidia-cuda-nvrtc, or name its file in NVFUSER_NVRTC"});
  }
  if (const HostCompiler* compiler = HostCompiler::maybe_get(&reason)) {
    lines.push_back({"C++ compiler", compiler->version() + " (" + compiler->command() + ")", ""});
  } else {
    lines.push_back(
        {"C++ compiler", "none: " + reason,
         "install g++ or clang++, or name one in CXX; until then nothing is compiled for the CPU"});
  }
}

void report_cache(std::vector<DoctorLine>& lines) {
  const KernelCache& cache = KernelCache::instance();
  if (!cache.is_enabled()) {
    lines.push_back({"kernel cache", "off", "unset NVFUSER_KERNEL_CACHE to keep kernels on disk"});
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
