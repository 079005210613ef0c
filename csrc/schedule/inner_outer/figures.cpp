#include <algorithm>

#include "schedule/common/problem_sizes.h"
#include "schedule/common/staged_rows.h"
#include "schedule/inner_outer/inner_outer.h"
#include "schedule/params/reduction_params.h"

namespace nvfuser::schedule::inner_outer {

KernelFigures find_figures(
    const FusionSummary& summary, const HeuristicParams& heuristics, const RunFacts& facts) {
  const auto& params =
      params_as<ReductionParams>(heuristics, SchedulerType::inner_outer_persistent);
  const ReductionProblem& problem = *summary.problem();
  const ProblemSizes sizes = sizes_of(problem, facts);
  KernelFigures figures;
  figures.blocks = params.lparams.num_blocks();
  figures.threads = params.lparams.num_threads();
  figures.registers = params.cparams.maxrregcount;
  figures.elements = static_cast<double>(sizes.kept) * static_cast<double>(sizes.reduced);
  figures.of_element = problem.cost;
  figures.traffic_bytes = traffic_bytes(summary, facts);

  const int64_t of_thread =
      params.batches_per_block_inner_reduction * params.unroll_factor_inner_reduction;
  int64_t row_bytes = 0; // of the elements that a block has at a time
  for (const TensorAccess& access : problem.accesses) {
    row_bytes +=
        is_streamed(access) ? figures.threads * of_thread * size_bytes(access.tensor->dtype()) : 0;
  }
  const int64_t stages = params.circular_buffer_stages;
  figures.shared_bytes = stages > 1 || params.keeps_rows_in_shared_memory ? stages * row_bytes : 0;
  figures.load_bytes_of_block = std::max<int64_t>(stages - 1, 1) * row_bytes;

  // Parts of the sums over rows stay in the second cache: they are no traffic.
  const auto outer = static_cast<double>(outer_reductions(summary).size());
  const auto rows = static_cast<double>(ceil_div(sizes.kept, std::max<int64_t>(figures.blocks, 1)));
  const double inner = static_cast<double>(summary.reductions().size()) - outer;
  figures.block_barriers = params.multiple_reds_per_blk ? 0 : rows * inner; // of warps: none
  figures.grid_barriers = 1;
  return figures;
}

} // namespace nvfuser::schedule::inner_outer
