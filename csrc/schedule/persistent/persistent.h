// The schedulers `inner_persistent` and `outer_persistent`: what is computed for each element from
// reductions over its row (a softmax, a norm), or over its column.
//
//   T1 = max(T0)   T2 = exp(T0 - T1)   T3 = sum(T2)   T4 = T2 / T3
//
// A block reads its rows once, keeps what later steps need, and writes. The threads of a row have
// a fixed number of vectors each, in registers: what was computed, or, of long rows, the elements
// as they are stored, from which each step computes anew. A task of a processor keeps the row in
// its cache.
#pragma once

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& inner_persistent_scheduler();
[[nodiscard]] const Scheduler& outer_persistent_scheduler();

namespace persistent {

/// Bytes of an element of what a row keeps on chip at the same time.
[[nodiscard]] int64_t kept_bytes(const FusionSummary& summary);
/// Bytes of an element of all that a row keeps.
[[nodiscard]] int64_t stored_bytes(const FusionSummary& summary);

[[nodiscard]] std::unique_ptr<HeuristicParams> compute_inner_heuristics(
    const FusionSummary& summary, const RunFacts& facts);
[[nodiscard]] std::unique_ptr<HeuristicParams> compute_outer_heuristics(
    const FusionSummary& summary, const RunFacts& facts);
void apply_inner(FusionSummary& summary, const HeuristicParams& params);
void apply_outer(FusionSummary& summary, const HeuristicParams& params);

} // namespace persistent
} // namespace nvfuser::schedule
