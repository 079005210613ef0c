#pragma once

#include <optional>

#include "base/refusal.h"
#include "ir/fusion.h"

namespace nvfuser::schedule {

/// Schedule a fusion so that it runs as one kernel, correctly, on any target and for any sizes.
/// Every tensor runs over [serial, grid_x{64}, block_x{256}] of its flattened iteration axes.
/// Reductions are trees of short serial sums (schedule/reduction_tree.h), whose partial results are
/// tensors like any other. Tensors are inlined where they can be; every other intermediate lies in
/// global memory, behind grid barriers.
/// It is the schedule of `FusionDefinition.execute` until a scheduler that knows the fusion's shape
/// takes it: right before fast.
/// Errors: a tensor that is bound or inlined already; two axes of a tensor that expressions map to
/// each other (UserNotImplementedError).
void trivial(Fusion& fusion);
/// Says no to a fusion that has a schedule already: a tensor that is bound or inlined.
[[nodiscard]] std::optional<Refusal> find_scheduled_tensor(const Fusion& fusion);
/// The same as `trivial`; the error is a refusal, and the fusion is then scheduled in part.
[[nodiscard]] std::optional<Refusal> try_trivial(Fusion& fusion);
/// The same with so many blocks, all of which have to be resident at once.
[[nodiscard]] std::optional<Refusal> try_trivial_on(Fusion& fusion, int64_t blocks);

} // namespace nvfuser::schedule
