// The part of a tensor that a schedule adds, apart from its domain. A property is declared here and
// nowhere else: copies, equality, hash, the Python method and the bytes on disk follow from
// `fields()`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/circular_buffer.h"
#include "ir/fields.h"

namespace nvfuser {

struct TensorSchedule {
  MemoryType memory_type = MemoryType::Local;
  int64_t compute_at_position = 0;
  int64_t max_producer_position = 0;
  int64_t compute_with_position = 0;
  int64_t maybe_max_producer_position = 0;
  std::vector<TensorView*> compute_with_consumers = {};
  std::optional<CircularBuffering> circular_buffer_options = std::nullopt;
  bool promotes_reuse = false;
  bool is_cpu_scalar = false;

  static constexpr auto fields() {
    using S = TensorSchedule;
    return std::tuple{
        attr("memory_type", &S::memory_type, "Where the tensor lives."),
        attr(
            "compute_at_position", &S::compute_at_position,
            "Number of outer loop axes shared with every consumer."),
        attr(
            "max_producer_position", &S::max_producer_position,
            "Number of outer loop axes inside which some producer is computed."),
        attr(
            "compute_with_position", &S::compute_with_position,
            "Number of outer loop axes shared with the first consumer in the kernel; 0: as many as "
            "with the others."),
        attr(
            "compute_with_consumers", &S::compute_with_consumers,
            "The results of the first expression that reads this tensor; empty before lowering."),
        attr(
            "maybe_max_producer_position", &S::maybe_max_producer_position,
            "`max_producer_position` if this tensor's expression is the first to read its "
            "operands."),
        attr(
            "circular_buffer_options", &S::circular_buffer_options,
            "How the tensor is loaded ahead of the loop that reads it; None if it is not."),
        attr(
            "promotes_reuse", &S::promotes_reuse,
            "Whether lowering may add a barrier so that later buffers take this one's shared "
            "memory."),
        attr("is_cpu_scalar", &S::is_cpu_scalar, "Whether it is a 0-dim tensor on the host."),
    };
  }
};

} // namespace nvfuser
