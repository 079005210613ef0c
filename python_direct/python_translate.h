// A fusion as the Python function that builds it again.
#pragma once

#include <string>

#include "ir/fusion.h"

namespace nvfuser::python {

/// The math of `fusion` as a function `nvfuser_fusion(fd)`. Calling it on a new FusionDefinition
/// gives an equal fusion, up to numbering where statements were not made in the printed order.
/// Expressions that no output needs are left out. For a scheduled fusion this is the math:
/// reductions that were factored or grouped are whole again; caches stay as copies.
///
/// With `schedule` the math is that from before all caches, and after it come the calls that
/// lead to the schedule: running the function lowers to the same kernel.
/// Errors: an expression without a name in Python; a scheduled tensor whose axes are not what its
/// operation made them.
/// Cost: O(values + expressions * expressions that wait for sizes).
[[nodiscard]] std::string translate_fusion(const Fusion& fusion, bool schedule = false);

/// The definition that the schedule of `fusion` started from, without any of it, in the order that
/// bytes have. Equal texts: equal definitions, in whatever order they were written.
[[nodiscard]] std::string translate_unscheduled(const Fusion& fusion);

} // namespace nvfuser::python
