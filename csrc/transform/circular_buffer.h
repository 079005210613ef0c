// The rules of circular buffers that need only the tensor. Lowering asks again: axes may have been
// bound after the call.
#pragma once

#include <vector>

#include "ir/tensor_view.h"

namespace nvfuser {

/// Refuse a circular buffer on anything but a copy into registers or shared memory.
void check_circular_buffer(const TensorView* tensor);

/// Position of the loop axis along which `tensor` is loaded ahead: the innermost serial one left of
/// its compute-at position, outside of which its producer is computed. `types`: what the loops of
/// its axes are bound to.
[[nodiscard]] int64_t circular_buffer_axis(
    const TensorView* tensor, const std::vector<ParallelType>& types);

} // namespace nvfuser
