// Numbers and switches in environment variables. Lists of options are in base/options.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nvfuser {

/// The variables of this process. All are read together, at the first use of any of them and of any
/// option: a wrong one is an error then, whatever the program needs it for.
struct Environment {
  std::optional<int64_t> num_threads;   // NVFUSER_NUM_THREADS
  std::optional<int64_t> max_registers; // NVFUSER_MAX_REG_COUNT: of a thread
  std::optional<int64_t> jit_opt_level; // NVFUSER_JIT_OPT_LEVEL: 0 to 4
  std::optional<int64_t> cache_mb;      // NVFUSER_CACHE_MB: bound of the kernel cache
  bool keeps_kernels = true;            // NVFUSER_KERNEL_CACHE
  bool verifies_passes = false;         // NVFUSER_VERIFY_PASSES: lowering looks for its mistakes
  bool disables_fallback = false;       // NVFUSER_DISABLE_FALLBACK, or with PYTORCH_ before it
};

/// A UserError, at every call, if some variable is malformed.
[[nodiscard]] const Environment& environment();

/// The text of a variable; empty if it is not set.
[[nodiscard]] std::string environment_text(const char* name);

} // namespace nvfuser
