#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Check every vectorized tensor, and note what has to be checked with actual sizes and pointers
/// (`kernel.launch.vector_accesses`, conditions of the launch).
/// A vector access reads or writes neighbours in memory: its axis is the innermost part of the
/// longest run of contiguous dimensions, and every split below it divides.
[[nodiscard]] std::optional<Refusal> check_vector_accesses(Kernel& kernel);

} // namespace nvfuser
