// Whether tensors share memory: what is written in place must not.
#pragma once

#include "runtime/dlpack_tensor.h"

namespace nvfuser {

/// Whether two elements of `tensor` may lie at one address. Exact for tensors whose dimensions
/// nest; strides that interleave count as overlapping.
[[nodiscard]] bool may_overlap_itself(const TensorArg& tensor);

/// Whether the address ranges of two tensors intersect.
[[nodiscard]] bool ranges_intersect(const TensorArg& a, const TensorArg& b);

} // namespace nvfuser
