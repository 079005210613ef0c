// Conditions of a launch: what must hold for its sizes.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// A condition whose failure says all in its headline: what was expected is `holds`, what was found
/// are the sizes that it depends on.
[[nodiscard]] LaunchCondition size_condition(Val* holds, const Part& headline, const Part& node);

/// Whether `output` has no element, as a Bool of the kernel.
[[nodiscard]] Val* is_empty(Kernel& kernel, const TensorView* output);
/// Whether no output has an element: such a kernel is not launched.
[[nodiscard]] Val* is_empty(Kernel& kernel);

} // namespace nvfuser
