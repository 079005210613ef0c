// The resources of a launch: whether its blocks fit on the device, alone and together.
#pragma once

#include <optional>

#include "base/refusal.h"

namespace nvfuser {

struct LaunchPlan;

/// Sets the function of `plan`, and the limit of registers without which its blocks do not fit.
/// Says no to blocks with more shared memory than there is, to clusters that no part of the device
/// holds, and to a cooperative launch of more blocks than are resident at once.
/// Requires: the size of the launch is planned.
[[nodiscard]] std::optional<Refusal> plan_resources(LaunchPlan& plan);

} // namespace nvfuser
