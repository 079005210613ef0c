// How a tensor is loaded ahead of the loop that reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "base/types.h"

namespace nvfuser {

/// The threads that compute load ahead, too.
struct Pipelined {
  /// Whether readers hand a stage back through an mbarrier; if not, a barrier of the block does.
  bool uses_mbarrier_for_war = false;
  bool operator==(const Pipelined&) const = default;
};

/// A group of threads of its own loads.
struct WarpSpecialized {
  ParallelType on = ParallelType::Serial; // the thread dimension that the group is added to
  std::optional<std::pair<int64_t, int64_t>> num_registers; // of loading, of computing threads
  std::optional<int64_t> stage_slice_position;
  bool operator==(const WarpSpecialized&) const = default;
};

/// A circular buffer has `stages` copies of a tensor's storage. Iteration i of its loop reads stage
/// i % stages, and loads for iteration i + prefetch; 0 <= prefetch < stages, and stages > 1.
struct CircularBuffering {
  int64_t stages = 0;
  int64_t prefetch = 0;
  std::variant<Pipelined, WarpSpecialized> type;
  bool operator==(const CircularBuffering&) const = default;
};

} // namespace nvfuser
