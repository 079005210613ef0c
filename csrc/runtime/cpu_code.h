// CpuCode: a CPU kernel compiled and loaded into this process.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/cpu_runtime.h"
#include "runtime/dynamic_library.h"
#include "runtime/kernel_refusal.h"

namespace nvfuser {

/// launch: {gdimx, gdimy, gdimz, bdimx, bdimy, bdimz}
using CpuKernelFn =
    void (*)(const void* const* params, const long long* launch, const nvf_cpu_runtime* runtime);

class CpuCode {
 public:
  /// Compile `source`, or take the result from the caches. A refusal where there is no compiler, or
  /// where it fails. A UserError for a source that does not compile.
  [[nodiscard]] static std::variant<std::shared_ptr<CpuCode>, KernelRefusal> try_compile(
      const std::string& source,
      const std::string& name,
      const std::vector<std::string>& include_paths = {});

  /// The code of a kernel that was compiled before, by its name in the cache; nullptr if it is not
  /// there any more.
  [[nodiscard]] static std::shared_ptr<CpuCode> find(
      const std::string& cache_name, const std::string& name);

  /// The name of its entry in the kernel cache; empty if it has none.
  [[nodiscard]] const std::string& cache_name() const {
    return cache_name_;
  }
  [[nodiscard]] const std::string& function_name() const {
    return name_;
  }
  [[nodiscard]] CpuKernelFn function() const {
    return function_;
  }

 private:
  CpuCode() = default;
  /// Open the bytes of a shared object, or say why they cannot be. A file is needed only for as
  /// long as that takes.
  [[nodiscard]] static std::variant<std::shared_ptr<CpuCode>, KernelRefusal> try_load(
      const std::string& object, const std::string& name);

  /// The code of an entry of the kernel cache; nullptr if there is none, or it cannot be loaded: it
  /// is made anew then, and replaced.
  [[nodiscard]] static std::shared_ptr<CpuCode> try_load_entry(
      const std::optional<std::string>& object,
      const std::string& name,
      const std::string& cache_name);

  std::string name_; // of the function
  std::string cache_name_;
  DynamicLibrary library_;
  CpuKernelFn function_ = nullptr;
};

/// Forget the kernels loaded so far; those in use stay.
void clear_loaded_cpu_code();

} // namespace nvfuser
