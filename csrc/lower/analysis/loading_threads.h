// Threads that only load: a group of warps that is launched besides the threads that compute.
//
//   threads of a block   0 .. 127          128 .. 128 + block size - 1
//   role                 thread 0 loads    compute
//   index of the block   -128 .. -1        0 .. block size - 1
//
// They come first, so that the computing threads may be any number, and stand along one thread
// dimension, where their positions are negative: `IF threadIdx.x >= 0` tells both roles apart. All
// extents of a block count the threads that compute; launches add the others.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

struct LoadingThreads {
  ParallelType along = ParallelType::TIDx; // thread dimension that has more positions
  int64_t positions = 0;                   // along it; 0: every thread computes
  int64_t threads = 0;                     // in all: whole groups of warps
  /// Registers of a loading and of a computing thread, and of any when the kernel begins; no
  /// value: all have the same number.
  std::optional<std::array<int64_t, 3>> registers;
};

/// Whether the stages of a loop have barriers of their own, at which readers hand them back. They
/// have none on a device without bulk copies, where threads that compute load.
[[nodiscard]] bool hands_stages_back(const Kernel& kernel, const CircularLoop& loop);

/// Whether threads that do nothing else load what a loop reads.
[[nodiscard]] bool is_specialized(const Kernel& kernel, const CircularLoop& loop);

/// Say why the loads of `kernel.circular_loops` cannot have threads of their own, on any target.
/// Requires: circular loops, launch extents, sizes of clusters.
[[nodiscard]] std::optional<Refusal> find_wrong_loading_threads(const Kernel& kernel);

/// Those of a kernel; none on a target without hardware threads.
[[nodiscard]] LoadingThreads loading_threads(const Kernel& kernel);

/// Positions of loading threads along a thread dimension (0 x, 1 y, 2 z), in front of the others.
[[nodiscard]] int64_t loading_positions(const Kernel& kernel, int64_t dim);

/// Whether a condition holds for the threads that compute, and not for those that only load.
[[nodiscard]] bool tells_roles_apart(const Kernel& kernel, const Val* condition);

/// Barriers that stages of circular buffers need, for the loads and for the readers each; 0: no
/// loop hands stages back.
[[nodiscard]] int64_t num_stage_barriers(const Kernel& kernel);

/// Whether stages of `tensor` have barriers of their own.
[[nodiscard]] bool has_stage_barriers(const Kernel& kernel, const TensorView* tensor);

/// Whether a statement of `scope` writes to such a stage: it is what the loading thread does.
[[nodiscard]] bool loads_stages(const Kernel& kernel, const Scope& scope);

} // namespace nvfuser
