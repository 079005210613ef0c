#include <algorithm>

#include "schedule/common/problem_sizes.h"
#include "schedule/params/reduction_params.h"
#include "schedule/reduction/reduction.h"

namespace nvfuser::schedule::reduction {
namespace {

/// Registers of a thread beside what it loads and sums.
constexpr int64_t kOtherRegisters = 24;
constexpr int64_t kRegisterBytes = 4;

} // namespace

KernelFigures find_figures(
    const FusionSummary& summary, const HeuristicParams& heuristics, const RunFacts& facts) {
  const auto& params = params_as<ReductionParams>(heuristics, SchedulerType::reduction);
  const ReductionProblem& problem = *summary.problem();
  const ProblemSizes sizes = sizes_of(problem, facts);
  const int64_t lanes =
      params.fastest_dim ? params.unroll_factor_inner_reduction : params.unroll_factor_iter_dom;
  const int64_t steps = params.fastest_dim ? params.unroll_factor_top_of_vectorization
                                           : params.unroll_factor_inner_reduction;
  KernelFigures figures;
  figures.traffic_bytes = traffic_bytes(summary, facts);
  figures.elements = static_cast<double>(sizes.kept) * static_cast<double>(sizes.reduced);
  figures.of_element = problem.cost;
  figures.blocks = params.lparams.num_blocks();
  figures.threads = params.lparams.num_threads();
  for (const TensorAccess& access : problem.accesses) {
    if (!access.is_output && !access.is_lookup() && access.has_all_axes) {
      figures.load_bytes_of_thread += steps * lanes * size_bytes(access.tensor->dtype());
    }
  }
  // One accumulator for each lane of each reduction.
  int64_t results = 0;
  for (const ReductionFacts& reduction : summary.reductions()) {
    results += static_cast<int64_t>(reduction.expr->outputs().size());
  }
  figures.registers = std::min(
      kOtherRegisters + figures.load_bytes_of_thread / kRegisterBytes + lanes * results,
      params.cparams.maxrregcount);
  const int64_t of_reduction = params.fastest_dim ? params.lparams.bdimx() : params.lparams.bdimy();
  figures.block_barriers = of_reduction > facts.target().warp_size || !params.fastest_dim ? 1 : 0;
  figures.grid_barriers = params.cross_grid_inner_reduction ? 1 : 0;
  return figures;
}

} // namespace nvfuser::schedule::reduction
