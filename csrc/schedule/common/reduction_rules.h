// Refusals of the schedulers of reductions.
#pragma once

#include <optional>
#include <unordered_set>

#include "base/refusal.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule {

using TensorSetOf = std::unordered_set<const TensorView*>; // only looked up

/// The results of reductions, and all that is computed from them.
[[nodiscard]] TensorSetOf tensors_behind_reductions(const FusionSummary& summary);

/// Refuses what no kernel has, fusions without reductions, slices and pads, reductions that are
/// grouped already.
[[nodiscard]] std::optional<Refusal> find_refusal_of_reductions(const FusionSummary& summary);

/// Refuses reductions over different axes.
[[nodiscard]] std::optional<Refusal> find_different_reductions(const FusionSummary& summary);

/// A tensor behind reductions that has an element for each one that is reduced; nullptr: none.
[[nodiscard]] const TensorView* find_resolved_broadcast(
    const FusionSummary& summary, const TensorSetOf& left_out = {});

/// Refuses tensors with axes that the reference does not have: before reductions, it may have what
/// they were reshaped into.
[[nodiscard]] std::optional<Refusal> find_uncovered_tensor(const FusionSummary& summary);

/// Refuses inputs that are written in place while other threads may read them.
[[nodiscard]] std::optional<Refusal> find_shared_update(const FusionSummary& summary);

} // namespace nvfuser::schedule
