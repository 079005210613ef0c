// How a tensor is loaded ahead of the loop that reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "base/types.h"
#include "ir/fields.h"

namespace nvfuser {

/// The threads that compute also load ahead.
struct Pipelined {
  /// Whether readers hand a stage back through an mbarrier; if not, a barrier of the block does.
  bool uses_mbarrier_for_war = false;
  static constexpr auto fields() {
    return std::tuple{
        attr(
            "uses_mbarrier_for_war", &Pipelined::uses_mbarrier_for_war,
            "Whether readers hand a stage back through an mbarrier."),
    };
  }
  bool operator==(const Pipelined&) const = default;
};

/// A group of threads of its own loads.
struct WarpSpecialized {
  ParallelType on = ParallelType::Serial; // the thread dimension that the group is added to
  std::optional<std::pair<int64_t, int64_t>> num_registers; // of loading, of computing threads
  std::optional<int64_t> stage_slice_position;
  static constexpr auto fields() {
    using S = WarpSpecialized;
    return std::tuple{
        attr("on", &S::on, "The thread dimension that the group is added to."),
        attr(
            "num_registers", &S::num_registers,
            "Registers of a loading and of a computing thread."),
        attr(
            "stage_slice_position", &S::stage_slice_position,
            "Loop axes outside of which a stage is cut in slices."),
    };
  }
  bool operator==(const WarpSpecialized&) const = default;
};

/// A circular buffer has `stages` copies of a tensor's storage. Iteration i of its loop reads stage
/// i % stages, and loads for iteration i + prefetch; 0 <= prefetch < stages, and stages > 1.
struct CircularBuffering {
  int64_t stages = 0;
  int64_t prefetch = 0;
  std::variant<Pipelined, WarpSpecialized> type;
  static constexpr auto fields() {
    using S = CircularBuffering;
    return std::tuple{
        attr("stages", &S::stages, "Copies of the tensor's storage."),
        attr("prefetch", &S::prefetch, "Iterations between a load and its read."),
        attr("type", &S::type, "Which threads load."),
    };
  }
  bool operator==(const CircularBuffering&) const = default;
};

} // namespace nvfuser
