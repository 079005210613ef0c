// Whether the caller's stream is being captured in a CUDA graph: then nothing may be compiled.
#pragma once

#include <optional>

#include "base/device.h"
#include "base/refusal.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser::host {

/// Says no while the current stream of `device` is captured. Compiling would load a module, which
/// the driver forbids then, and would end the capture.
[[nodiscard]] std::optional<Refusal> find_capture(Device device, OutputAllocator& allocator);

} // namespace nvfuser::host
