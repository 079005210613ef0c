// The rules of circular buffers that need only the tensor. Lowering asks again: axes may have been
// bound after the call.
#pragma once

#include <vector>

#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser {

/// Says no to a circular buffer on anything but a copy into registers or shared memory.
[[nodiscard]] std::optional<Refusal> find_wrong_circular_buffer(const TensorView* tensor);

/// Says no to threads that cannot load `tensor`, a copy, or hand its stages back.
[[nodiscard]] std::optional<Refusal> find_wrong_loader(
    const TensorView* tensor, const std::variant<Pipelined, WarpSpecialized>& type);

/// Says no to a circular buffer where a tensor is computed when it is read.
[[nodiscard]] std::optional<Refusal> find_load_ahead(const TensorView* tensor);

/// Which threads load `tensor`, a circular buffer.
[[nodiscard]] const std::variant<Pipelined, WarpSpecialized>& loader_of(const TensorView* tensor);

/// Says no where `circular_buffer_axis` finds none, or a producer stands inside of its loop.
[[nodiscard]] std::optional<Refusal> find_missing_circular_axis(
    const TensorView* tensor, const std::vector<ParallelType>& types);

/// Position of the loop axis along which `tensor` is loaded ahead: the innermost serial one left of
/// its compute-at position, outside of which its producer is computed. `types`: what the loops of
/// its axes are bound to. -1: there is none.
[[nodiscard]] int64_t circular_buffer_axis(
    const TensorView* tensor, const std::vector<ParallelType>& types);

namespace transform {

/// Circular buffer `tv`, a bulk copy, with a group of threads that does nothing but load it, added
/// along `parallel_type`. `num_registers`: of a loading thread, of one that computes.
void warp_specialize(
    TensorView* tv,
    int64_t number_of_stages,
    int64_t prefetch_distance,
    ParallelType parallel_type,
    const std::optional<std::pair<int64_t, int64_t>>& num_registers = std::nullopt);

} // namespace transform
} // namespace nvfuser
