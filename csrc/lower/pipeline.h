#pragma once

#include <vector>

#include "base/pass_table.h"
#include "lower/kernel.h"

namespace nvfuser {

/// The passes of lowering, in order.
[[nodiscard]] const std::vector<Pass<Kernel>>& lowering_passes();

/// Run them as the kernel's options say: up to a pass, recorded, verified. The refusal of the first
/// pass that refuses.
[[nodiscard]] std::optional<Refusal> run_passes(Kernel& kernel);

} // namespace nvfuser
