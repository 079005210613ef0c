// The scheduler `inner_outer_persistent`: norms backward with gradients of their weights, which sum
// what was computed for each element over all rows.
//
//   T5 = sum(T4, [1])   T6 = T4 - T5   out: T6   and T7 = sum(T6, [0])   out: T7
//
// Blocks take rows in turn, of short ones one for each of their warps. They reduce each and keep it
// on chip, while the next one is on its way to shared memory; sums over rows stay in registers from
// row to row, are stored once for each block, and after a barrier of the grid all blocks add them
// up, each some columns. Where few blocks with whole rows fit on a multiprocessor, the blocks of a
// cluster share each row; where their registers have room for the sums alone, rows stay in shared
// memory.
#pragma once

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& inner_outer_persistent_scheduler();

namespace inner_outer {

/// Reductions over rows, whose results are columns.
[[nodiscard]] std::vector<const ReductionFacts*> outer_reductions(const FusionSummary& summary);

/// Whether an access is one of columns that all rows share.
[[nodiscard]] bool is_of_columns(const TensorAccess& access, const ReductionProblem& problem);

struct RowLayout {
  int64_t lanes = 1;
  int64_t batches = 1;                        // vectors of a thread
  int64_t warps = 1;                          // of a row
  int64_t threads = Target::cuda().warp_size; // of these, or of a row that shares its warp
  int64_t rows = 1;          // of a block at a time: more than one only of one warp each, or less
  int64_t blocks = 1;        // or clusters, that take rows in turn
  int64_t cluster = 1;       // blocks that share a row
  int64_t blocks_of_sm = 1;  // resident
  int64_t stages = 1;        // rows in shared memory; 1: none
  int64_t registers = 255;   // of a thread at most, so that all blocks are resident
  bool keeps_inputs = false; // and computes from them anew in each pass over a row
  bool is_in_shared_memory = false; // where each pass loads from; registers have the sums alone
  bool is_shifted = false;          // to where vectors begin (common/shifted_rows.h)
};
/// No value: there is no room for a row and its sums on chip.
[[nodiscard]] std::optional<RowLayout> find_row_layout(
    const FusionSummary& summary, const RunFacts& facts);

[[nodiscard]] std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts);
[[nodiscard]] KernelFigures find_figures(
    const FusionSummary& summary, const HeuristicParams& params, const RunFacts& facts);
void apply(FusionSummary& summary, const HeuristicParams& params);

} // namespace inner_outer
} // namespace nvfuser::schedule
