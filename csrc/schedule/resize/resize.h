// The scheduler `resize`: maps in which elements are read at other positions: slices, pads and
// concatenations.
//
// Loops are those of a map over the axes of a reference output. Slices of inputs are loads at other
// positions. Operands of pads and concatenations are computed in the loops of the result, so that
// nothing is stored between. A tensor that two readers want at different positions would be two
// tensors, and a slice of a tensor that is computed would compute all of it: both are refused.
// Small maps of parts of one dimension may have loops of their own (schedule/resize/branches.h).
#pragma once

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& resize_scheduler();

namespace resize {

[[nodiscard]] std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary);

} // namespace resize
} // namespace nvfuser::schedule
