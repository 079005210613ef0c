// Memory and promises that the launches of a program share.
#pragma once

#include "host/program_plan.h"

namespace nvfuser::host {

/// Fill in, from the steps of `plan`: the counters and workspaces of its kernels, whether its runs
/// leave their arguments as they are, and when they make new tensors.
/// Requires: the memory of all slots is chosen.
void plan_launches(ProgramPlan& plan);

} // namespace nvfuser::host
