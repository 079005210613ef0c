// Circular loops: serial loops ahead of which copies are loaded into circular buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/refusal.h"
#include "ir/fwd.h"

namespace nvfuser {

class Kernel;
class TensorView;
struct Loop;

/// Iteration i of the loop reads stage i % stages of every tensor, and loads what iteration
/// i + prefetch reads. All its tensors share this structure.
struct CircularLoop {
  const Loop* loop = nullptr;
  int64_t stages = 0;
  int64_t prefetch = 0;             // as asked for; `first_loads` may be fewer
  std::vector<TensorView*> tensors; // in creation order

  /// Iterations that are loaded before the loop begins: no more than it is known to have.
  [[nodiscard]] int64_t first_loads() const;
};

/// Find the loops of all circular buffers: a fact for storage, loop nests and loads.
/// Requires: parallel types of loops, and which of them run once.
/// Ensures:  every tensor of `kernel.circular_loops` is a copy that can be loaded ahead, by the
///           rules of transform/circular_buffer.h; a loop that runs once is none.
[[nodiscard]] std::optional<Refusal> find_circular_loops(Kernel& kernel);

/// The loop ahead of which `tensor` is loaded; nullptr: it is loaded where it is read.
[[nodiscard]] const CircularLoop* circular_loop_of(const Kernel& kernel, const TensorView* tensor);

} // namespace nvfuser
