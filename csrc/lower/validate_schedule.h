#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Reject schedules that no target can run, before anything is changed: parallel types on axes that
/// cannot have them, one hardware index on two axes of a tensor, memory types that
/// lowering does not know.
void validate_schedule(Kernel& kernel);

} // namespace nvfuser
