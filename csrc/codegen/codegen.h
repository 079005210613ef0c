// Source text of a lowered kernel.
#pragma once

#include <string>

#include "lower/kernel.h"

namespace nvfuser {

/// The name a kernel has if none is given: `CUDAGeneratedKernel`, `CPUGeneratedKernel`.
[[nodiscard]] const char* default_kernel_name(const Target& target);

/// The kernel alone, for reading: `// Codegen generated code`, then the function.
[[nodiscard]] std::string generate_kernel_text(
    const Kernel& kernel, const std::string& kernel_name = "");

/// A complete source: the device sources that the kernel uses, then the kernel with C linkage.
[[nodiscard]] std::string generate_source(
    const Kernel& kernel, const std::string& kernel_name = "");

} // namespace nvfuser
