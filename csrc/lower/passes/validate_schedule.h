#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Reject schedules that no target can run, before anything is changed: what has no kernel form
/// (kernel_forms.h), parallel types on axes that cannot have them or that are no loops, one
/// hardware index on two axes of a tensor. A schedule is done as it says or refused, never ignored.
std::optional<Refusal> validate_schedule(Kernel& kernel);

} // namespace nvfuser
