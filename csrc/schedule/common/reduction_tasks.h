// Recipes for reductions in tasks of a processor, which differ in the stages of their sums alone.
#pragma once

#include <functional>

#include "schedule/common/reduction_loops.h"

namespace nvfuser::schedule {

/// Factors the results of one reduction in stages, and returns the tensor that has all loops. The
/// loops are those of the results before, and then those that are left.
using FactorStages = std::function<TensorView*(LoopRoles& loops, const ReductionResults& results)>;

/// The loops of reductions that were factored.
struct FactoredLoops {
  LoopRoles all;  // of the tensor that has all loops
  LoopRoles left; // of results
};
/// Factor all `reductions` alike. `loops`: those of one of the results.
[[nodiscard]] FactoredLoops factor_all(
    const LoopRoles& loops,
    const std::vector<ReductionResults>& reductions,
    const FactorStages& factor);

/// Whether the lanes of a vector are rows of an inner problem, each with a result of its own.
[[nodiscard]] bool has_rows_in_lanes(const ReductionParams& params);

/// Neighbours in memory of the innermost loop: the vectors of its loads are part of them.
[[nodiscard]] int64_t lanes_of(const ReductionParams& params);

/// Schedule the fusion for tasks. Loops of an inner problem are [Blocks, Rows, Grid, Serial, Chain,
/// Unroll, Lanes]: a task has some results, or a part of one. Those of an outer one are [Blocks,
/// Grid, Serial, Chain, Rows, Unroll, Columns]: it has neighbours, of which those of a vector, in a
/// few rows, are tested together. Where lanes are rows, loops are [Blocks, Rows, Serial, Columns]:
/// a task has groups of rows, and computes one position of all rows of a group, then the next.
/// `has_chains`: whether accumulators are added to outer ones after some elements.
void apply_in_tasks(
    FusionSummary& summary,
    const ReductionParams& params,
    bool has_chains,
    const FactorStages& factor);

} // namespace nvfuser::schedule
