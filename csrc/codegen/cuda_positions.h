// Indices of threads among all of their block.
#pragma once

#include <cstdint>
#include <optional>

#include "lower/kernel.h"

namespace nvfuser {

/// The end, exclusive, of the range of a sum of positions of threads, each times a constant:
///   thread_y * 32 + thread_x, of blocks of 32 x 16 threads  ->  512
/// Compilers know the range of each position, but not that of their sum. No value: it is something
/// else, a single position, or sizes of the block are not known.
[[nodiscard]] std::optional<int64_t> end_of_positions(const Kernel& kernel, const Val* index);

} // namespace nvfuser
