// A recorded step of a schedule, done again.
#pragma once

#include <vector>

#include "ir/tensor_view.h"

namespace nvfuser {

/// Apply the primitive of a step to `tensor`, with the arguments of the step, which belong to the
/// same fusion. Errors: those of the primitive. Returns the tensors that it made.
std::vector<TensorView*> apply_step(TensorView* tensor, const ScheduleCall& call);

} // namespace nvfuser
