// Tensors without elements: neither inputs of their fusion nor results of an expression. They can
// be made by hand, and everything that runs or schedules a fusion refuses them.
#pragma once

#include <optional>

#include "base/refusal.h"
#include "ir/fwd.h"

namespace nvfuser {

/// Says no where an output is such a tensor, or is computed from one.
[[nodiscard]] std::optional<Refusal> find_undefined_tensor(const Fusion& fusion);

} // namespace nvfuser
