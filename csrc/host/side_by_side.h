// Threads make the parts of the segments of a fusion side by side: schedules, kernels, their
// machine code.
#pragma once

#include <cstddef>
#include <functional>

namespace nvfuser::host {

/// Call `make` with 0, 1, .., n - 1, on all threads of the process, or one by one where
/// NVFUSER_DISABLE=parallel_compile says so.
void make_side_by_side(size_t n, const std::function<void(size_t)>& make);

} // namespace nvfuser::host
