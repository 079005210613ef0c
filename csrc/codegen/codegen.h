// Source text of a lowered kernel.
#pragma once

#include <string>

#include "lower/kernel.h"

namespace nvfuser {

/// The name a kernel has if none is given: `CUDAGeneratedKernel`, `CPUGeneratedKernel`.
[[nodiscard]] const char* default_kernel_name(const Target& target);

/// Comments at the ends of lines. Without them the text follows from the kernel alone.
enum class Comments : uint8_t {
  None,
  Fusion, // what a line comes from: lines of the user's program, axes, names in the fusion
};

/// The kernel alone, for reading: `// Codegen generated code`, then the function.
[[nodiscard]] std::string generate_kernel_text(
    const Kernel& kernel,
    const std::string& kernel_name = "",
    Comments comments = Comments::Fusion);

/// A complete source: the device sources that the kernel uses, then the kernel with C linkage.
[[nodiscard]] std::string generate_source(
    const Kernel& kernel,
    const std::string& kernel_name = "",
    Comments comments = Comments::Fusion);

} // namespace nvfuser
