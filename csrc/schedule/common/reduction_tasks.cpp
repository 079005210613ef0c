#include "schedule/common/reduction_tasks.h"

#include "schedule/common/global_tensors.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule {
namespace {

using enum LoopRole;

/// Elements that one accumulator of a processor takes before it is added to an outer one.
constexpr int64_t kChain = 32;
/// Columns of a processor's vector, of Floats.
constexpr int64_t kColumnsOfVector = 16;

void make_loops(LoopRoles& loops, const ReductionParams& params, bool has_chains) {
  if (params.cross_grid_inner_reduction) {
    loops.cut(Serial, params.blocks_per_reduction, Grid);
  }
  if (has_rows_in_lanes(params)) {
    loops.split(Blocks, params.unroll_factor_iter_dom, Columns);
    loops.split(Blocks, params.iterations_per_task, Rows);
    loops.arrange({Blocks, Rows, Serial, Columns, Ones});
    return;
  }
  if (params.fastest_dim) {
    loops.split(Serial, params.unroll_factor_inner_reduction, Lanes);
    loops.split(Serial, params.unroll_factor_top_of_vectorization, Unroll);
    if (params.unroll_factor_iter_dom > 1) {
      loops.split(Blocks, params.unroll_factor_iter_dom, Columns); // rows that are read together
    }
    loops.split(Blocks, params.iterations_per_task, Rows);
  } else {
    loops.split(Blocks, params.unroll_factor_iter_dom, Rows);
    loops.split(Rows, kColumnsOfVector, Columns);
  }
  if (has_chains) {
    loops.split(Serial, kChain, Chain);
    if (!params.fastest_dim && params.unroll_factor_inner_reduction > 1) {
      loops.split(Chain, params.unroll_factor_inner_reduction, Unroll); // rows read together
    }
  }
  if (params.fastest_dim) {
    loops.arrange({Blocks, Rows, Grid, Serial, Chain, Columns, Unroll, Lanes, Ones});
  } else {
    loops.arrange({Blocks, Grid, Serial, Chain, Rows, Unroll, Columns, Ones});
  }
}

} // namespace

FactoredLoops factor_all(
    const LoopRoles& loops,
    const std::vector<ReductionResults>& reductions,
    const FactorStages& factor) {
  TensorView* with_all = nullptr;
  LoopRoles left = loops;
  for (const ReductionResults& results : reductions) {
    left = loops.of(results.front());
    TensorView* first = factor(left, results);
    with_all = results.front() == loops.tensor() ? first : with_all;
  }
  return {.all = loops.of(with_all), .left = left};
}

bool has_rows_in_lanes(const ReductionParams& params) {
  return params.runs_in_tasks && params.fastest_dim && params.vectorize_iter_dom;
}

int64_t lanes_of(const ReductionParams& params) {
  return params.fastest_dim ? params.unroll_factor_inner_reduction : params.unroll_factor_iter_dom;
}

void apply_in_tasks(
    FusionSummary& summary,
    const ReductionParams& params,
    bool has_chains,
    const FactorStages& factor) {
  const ReductionProblem& problem = *summary.problem();
  Fusion& fusion = summary.fusion();
  static_cast<void>(fork_outputs(problem.accesses));
  const auto loads = load_vectors(problem, params.vector_widths);
  LoopRoles loops = make_canonical(reduced_tensor(problem.reference), problem);
  make_loops(loops, params, has_chains);
  transform::transform_like(loops.tensor());
  LoopRoles bound = factor_all(loops, reduction_results(fusion), factor).all;
  bound.bind(Blocks, ParallelType::BIDx);
  bound.bind(Grid, ParallelType::BIDy);
  // Steps that are whole have no tests: vectors, and rows of vectors that are read together.
  bound.bind(bound.has(Lanes) ? Lanes : Columns, ParallelType::Unswitch);
  if (!params.fastest_dim) {
    bound.bind(Unroll, ParallelType::Unswitch);
  }
  transform::parallelize_like(bound.tensor());
  for (const auto& [load, width] : loads) {
    vectorize_access(load, width, lanes_of(params));
  }
  transform::inline_most(fusion);
}

} // namespace nvfuser::schedule
