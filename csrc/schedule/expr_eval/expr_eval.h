// The scheduler `expr_eval`: fusions that need no kernel. All outputs are views of inputs, or one
// expression that a library computes is all there is. Nothing is transformed: the caller evaluates.
#pragma once

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& expr_eval_scheduler();

/// Whether an output that is computed lies in the memory of an input: it is a view of it, and
/// neither updates an input nor has a layout of its own. Cost: linear in the views.
[[nodiscard]] bool is_view_of_input(const TensorView* output);

} // namespace nvfuser::schedule
