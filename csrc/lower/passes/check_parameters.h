#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Refuse a kernel with more inputs, outputs and workspaces than the target can pass.
/// Requires: all workspaces are known.
std::optional<Refusal> check_parameters(Kernel& kernel);

} // namespace nvfuser
