// Kernels of a program that differ from run to run in nothing but addresses, which most do: where
// the address of each slot goes among the parameters. A run then passes by the arguments of each
// launch.
#pragma once

#include "host/program_plan.h"

namespace nvfuser::host {

/// Fill in PlannedLaunch::addresses, and which new tensors a run hands over to its caller.
/// Requires: the memory of all slots is chosen.
void plan_addresses(ProgramPlan& plan);

} // namespace nvfuser::host
