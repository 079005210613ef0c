// Index width: whether 32 bits are enough for every index a kernel computes.
#pragma once

#include <span>

#include "eval/evaluator.h"
#include "ir/fusion.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser {

/// Int if any linear element index of a tensor (allocated or not), any merged extent, or any
/// product of a split or of the launched axes may exceed 2^31 - 1, positions past the end at which
/// circular buffers load ahead included; else Int32. Requires: `evaluator` knows the inputs of
/// `fusion`, to which `args` belong.
[[nodiscard]] DataType narrowest_index_type(
    const Fusion& fusion, std::span<const Argument> args, ExpressionEvaluator& evaluator);

} // namespace nvfuser
