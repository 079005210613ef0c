// The scheduler `expr_eval`: fusions that need no kernel. All outputs are views of inputs, or one
// expression that a library computes is all there is. Nothing is transformed: the caller evaluates.
#pragma once

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& expr_eval_scheduler();

} // namespace nvfuser::schedule
