#include <algorithm>

#include "schedule/common/problem_sizes.h"
#include "schedule/inner_outer/inner_outer.h"
#include "schedule/params/reduction_params.h"
#include "schedule/persistent/persistent.h"

namespace nvfuser::schedule::inner_outer {
namespace {

constexpr int64_t kRegisterBytes = 4;
constexpr int64_t kWarp = Target::cuda().warp_size;
/// Elements of a thread, of rows that are not long.
constexpr int64_t kElements = 16;
/// Registers of a thread for everything but elements and sums.
constexpr int64_t kOtherRegisters = 40;
constexpr int64_t kMostBlocksOfSm = 8;
/// Registers are given to so many warps at a time, one for each scheduler of a multiprocessor.
constexpr int64_t kWarpsTogether = 4;
/// Partial sums of a column that a thread loads before it adds the first.
constexpr int64_t kLoads = 8;

int64_t outer_results(const FusionSummary& summary) {
  int64_t results = 0;
  for (const ReductionFacts* facts : outer_reductions(summary)) {
    results += static_cast<int64_t>(facts->expr->outputs().size());
  }
  return results;
}

} // namespace

std::optional<RowLayout> find_row_layout(const FusionSummary& summary, const RunFacts& facts) {
  const Target& target = facts.target();
  const ProblemSizes sizes = sizes_of(*summary.problem(), facts);
  const int64_t of_element =
      ceil_div(persistent::kept_bytes(summary), kRegisterBytes) + outer_results(summary);
  RowLayout row{.lanes = sizes.vectors.lanes};
  const int64_t vectors = ceil_div(sizes.reduced, row.lanes);
  const int64_t most_warps = target.max_threads_per_block / kWarp;
  row.warps = std::clamp<int64_t>(ceil_div(sizes.reduced, kElements * kWarp), 1, most_warps);
  for (; row.warps <= most_warps; row.warps *= 2) {
    row.batches = ceil_div(vectors, row.warps * kWarp);
    const int64_t needed = row.batches * row.lanes * of_element + kOtherRegisters;
    const int64_t threads = row.warps * kWarp;
    const int64_t fitting = std::min(
        {target.registers_per_sm / (threads * needed), kMostBlocksOfSm,
         target.max_threads_per_sm / threads});
    if (needed > target.max_registers_per_thread || fitting == 0) {
      continue;
    }
    row.warps = ceil_div(ceil_div(vectors, row.batches), kWarp);
    const int64_t steps = ceil_div(sizes.kept, target.num_sms * fitting);
    row.blocks = ceil_div(sizes.kept, steps);
    const int64_t allocated = ceil_div(row.warps, kWarpsTogether) * kWarpsTogether;
    row.registers = std::min(
        target.registers_per_sm / (allocated * kWarp * fitting) / target.register_granularity *
            target.register_granularity,
        target.max_registers_per_thread);
    return row;
  }
  return std::nullopt;
}

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  auto params = std::make_unique<ReductionParams>(SchedulerType::inner_outer_persistent);
  params->persistent_kernel = true;
  params->fastest_dim = true;
  params->combined_inner_outer = true;
  params->grid_dim_iter_dom = ParallelType::BIDx;
  const ProblemSizes sizes = sizes_of(*summary.problem(), facts);
  const RowLayout row = *find_row_layout(summary, facts);
  params->vector_widths = sizes.vectors.widths;
  params->unroll_factor_inner_reduction = row.lanes;
  params->vectorize_inner_reduction = row.lanes > 1;
  params->batches_per_block_inner_reduction = row.batches;
  params->cross_block_inner_reduction = true;
  params->block_dim_inner_reduction = ParallelType::TIDx;
  params->block_dim_inner_reduction_extra = ParallelType::TIDy;
  params->blocks_per_reduction = row.blocks;
  params->unroll_factor_outer_reduction = kLoads;
  params->vectorization_factor_tmp_gmem_write =
      std::min<int64_t>(row.lanes, facts.target().max_vector_bytes / kRegisterBytes);
  params->cparams.maxrregcount = row.registers;
  params->lparams.bind(ParallelType::TIDx, kWarp);
  params->lparams.bind(ParallelType::TIDy, row.warps);
  params->lparams.bind(ParallelType::BIDx, row.blocks);
  return params;
}

} // namespace nvfuser::schedule::inner_outer
