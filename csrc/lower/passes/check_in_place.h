#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Reject updates of inputs in place that other reads of the input could see half done.
/// An element may be overwritten if every read of it happens before, in the thread that writes it:
/// the reading loops are bound to the same hardware indices as the writing ones, and the sort puts
/// readers first.
/// Requires: sorted expressions, the loop model.
std::optional<Refusal> check_in_place(Kernel& kernel);

} // namespace nvfuser
