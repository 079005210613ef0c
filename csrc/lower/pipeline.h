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

/// Run one pass on a kernel that was lowered up to an earlier one. Passes in between may be left
/// out once there are statements. The kernel is verified before and after.
void run_pass(Kernel& kernel, const std::string& name);

} // namespace nvfuser
