// The device-side sources (runtime/), embedded by the build, and which of them a kernel needs.
//
// A device source says in its leading comment what it declares and what it builds on:
//
//   // provides: sigmoid silu
//   // requires: types libm
//
// Names in `requires` are file names without suffix. One that a target has no file for is built
// into its compiler (libm on CUDA).
#pragma once

#include <string>

#include "base/target.h"

namespace nvfuser {

/// The text of every device source that provides a name used in `kernel_text`, and of what those
/// require, each after its own requirements.
[[nodiscard]] std::string used_device_sources(const Target& target, const std::string& kernel_text);

} // namespace nvfuser
