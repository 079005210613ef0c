// The scheduler `no_op`: fusions that one thread computes, or none, since no output has a dimension
// with elements. Nothing is transformed: loops of one iteration stay as they are.
#pragma once

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& no_op_scheduler();

} // namespace nvfuser::schedule
