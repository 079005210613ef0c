// CudaCode: a CUDA kernel compiled for one architecture, loaded into each device that runs it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/compile_params.h"
#include "runtime/cuda_driver.h"
#include "runtime/nvrtc.h"

namespace nvfuser {

/// A kernel on one device, and what the device says about it.
struct CudaFunction {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  int max_threads = 0;         // of a block, with these registers
  int registers = 0;           // of a thread
  int static_shared_bytes = 0; // of a block
  int local_bytes = 0;         // of a thread: what did not fit into registers
  /// Dynamic shared memory the kernel may ask for, raised on demand.
  int max_dynamic_shared_bytes = 0;
};

class CudaCode {
 public:
  /// Compile `source`, or take the result from the caches. Throws UserError for what does not
  /// compile.
  [[nodiscard]] static std::shared_ptr<CudaCode> compile(
      const std::string& source,
      const std::string& name,
      const std::string& architecture,
      const CompileParams& params);
  /// The code of a kernel that was compiled for `architecture` before, by its name in the cache;
  /// nullptr if it is not there any more.
  [[nodiscard]] static std::shared_ptr<CudaCode> find(
      const std::string& cache_name, const std::string& name, const std::string& architecture);
  /// `cache_name`: of its entry in the kernel cache; empty if it has none.
  CudaCode(std::string name, std::string architecture, CudaBinary binary, std::string cache_name);
  ~CudaCode();
  CudaCode(const CudaCode&) = delete;
  CudaCode& operator=(const CudaCode&) = delete;

  [[nodiscard]] const CudaBinary& binary() const {
    return binary_;
  }
  [[nodiscard]] const std::string& function_name() const {
    return name_;
  }
  [[nodiscard]] const std::string& architecture() const {
    return architecture_;
  }
  [[nodiscard]] const std::string& cache_name() const {
    return cache_name_;
  }
  /// The kernel on a device; loaded at the first call. Requires that the device's context is
  /// current.
  [[nodiscard]] const CudaFunction& on_device(const CudaDriver& driver, int device) const;
  /// Let launches on `device` ask for `bytes` of dynamic shared memory.
  void allow_shared_bytes(const CudaDriver& driver, int device, int64_t bytes) const;
  /// A CUDA graph has a launch of it, and no hold on the code: it stays loaded as long as the
  /// process runs.
  void keep_loaded() const {
    stays_loaded_.store(true, std::memory_order_relaxed);
  }
  /// Let launches on `device` ask for clusters of so many blocks.
  void allow_clusters(const CudaDriver& driver, int device, int64_t blocks) const;

 private:
  const std::string name_;
  const std::string architecture_;
  const CudaBinary binary_;
  const std::string cache_name_;
  mutable std::mutex mutex_;
  mutable std::map<int, CudaFunction> functions_; // by device
  mutable std::atomic<bool> stays_loaded_ = false;
};

/// NVRTC's options for `params` and the options that hold now, without the architecture.
[[nodiscard]] std::vector<std::string> nvrtc_options(const CompileParams& params);

/// Forget the kernels compiled so far; those in use stay.
void clear_loaded_cuda_code();

} // namespace nvfuser
