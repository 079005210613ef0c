// The axes of each operand in each result, for every kind of expression: the second part of the
// table of op_semantics.h, which is what others include.
#pragma once

#include "graph/op_semantics.h"

namespace nvfuser {

/// The definition of `consumer` reads `producer`.
[[nodiscard]] OperandUse look_up_use(const TensorView& producer, const TensorView& consumer);

} // namespace nvfuser
