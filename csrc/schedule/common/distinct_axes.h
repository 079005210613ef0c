// Tensors whose axes an equivalence graph cannot tell apart.
#pragma once

#include <optional>

#include "base/refusal.h"
#include "graph/val_graph.h"
#include "ir/fusion.h"

namespace nvfuser::schedule {

/// Refuses a tensor that meets its own transpose, which has two axes that no graph tells apart, and
/// one that meets its own reshape, which has axes with two indices. Cut in two kernels it would be
/// two tensors; one kernel cannot hold it.
[[nodiscard]] std::optional<Refusal> find_indistinct_axes(
    const Fusion& fusion, const ValGraph& exact);

} // namespace nvfuser::schedule
