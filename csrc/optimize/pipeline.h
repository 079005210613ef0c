#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/pass_table.h"
#include "base/refusal.h"
#include "ir/fusion.h"
#include "optimize/optimized_fusion.h"

namespace nvfuser::optimize {

/// The passes from fusion to fusion, in order. Each tells whether it changed anything.
[[nodiscard]] const std::vector<Pass<OptimizedFusion>>& optimization_passes();

/// Says no to fusions that passes do not take: dynamic shapes have to be resolved first
/// (transform/concretize.h), and a schedule would be lost.
[[nodiscard]] std::optional<Refusal> find_unfit(const Fusion& fusion);

/// Run the passes on `fusion`, which find_unfit has no objection to, as the options say. Those that
/// ran are added to its records.
void run_passes(OptimizedFusion& fusion, const OptimizeOptions& options);

} // namespace nvfuser::optimize
