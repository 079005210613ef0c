// Sizes that suit the tasks of a processor, which are the blocks of its kernels. Schedulers ask
// here, so that they agree.
#pragma once

#include <cstdint>

namespace nvfuser {

/// Elements that pay for handing a task out, fit the caches, and leave enough tasks for balance.
inline constexpr int64_t kTaskElements = 16 * 1024;
/// Bytes of the elements that one step of an innermost loop computes.
inline constexpr int64_t kLaneBytes = 64;
/// Accumulators of `kLaneBytes` each that do not wait for each other.
inline constexpr int64_t kLaneAccumulators = 4;

} // namespace nvfuser
