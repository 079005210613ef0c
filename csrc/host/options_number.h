// A number for the options that hold in this thread: what a cache of kernels has as a part of its
// keys.
#pragma once

#include <cstdint>

namespace nvfuser::host {

/// Equal for equal options of NVFUSER_ENABLE and NVFUSER_DISABLE, wherever they come from: the
/// environment, or a call that has its own. Dumps and profiles do not count.
/// Cost: a comparison of two pointers where the options are those of the thread's last call.
[[nodiscard]] int64_t options_number();

} // namespace nvfuser::host
