#include <algorithm>

#include "schedule/common/fixed_sizes.h"
#include "schedule/common/global_tensors.h"
#include "schedule/common/moments.h"
#include "schedule/common/reduction_tasks.h"
#include "schedule/reduction/reduction.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule::reduction {
namespace {

using enum LoopRole;

// ---- Loops of the reference ---------------------------------------------------------------------

/// [Blocks, Rows ty, Grid, Serial, Unroll, Threads tx, Lanes]
void make_inner_for_threads(LoopRoles& loops, const ReductionParams& params) {
  if (params.unroll_factor_inner_reduction > 1) {
    loops.split(Serial, params.unroll_factor_inner_reduction, Lanes);
  }
  loops.split(Serial, params.lparams.bdimx(), Threads);
  if (params.unroll_factor_top_of_vectorization > 1) {
    loops.split(Serial, params.unroll_factor_top_of_vectorization, Unroll);
  }
  if (params.cross_grid_inner_reduction) {
    loops.split(Serial, params.blocks_per_reduction, Grid);
  }
  if (params.multiple_reds_per_blk) {
    loops.split(Blocks, params.lparams.bdimy(), Rows);
  }
  loops.arrange({Blocks, Rows, Grid, Serial, Unroll, Threads, Lanes, Ones});
}

/// [Blocks, Grid, Serial, Unroll, Threads ty, Rows tx, Columns]
void make_outer_for_threads(LoopRoles& loops, const ReductionParams& params) {
  loops.split(Blocks, params.unroll_factor_iter_dom, Columns);
  loops.split(Blocks, params.lparams.bdimx(), Rows);
  loops.split(Serial, params.lparams.bdimy(), Threads);
  if (params.unroll_factor_inner_reduction > 1) {
    loops.split(Serial, params.unroll_factor_inner_reduction, Unroll);
  }
  if (params.cross_grid_inner_reduction) {
    loops.split(Serial, params.blocks_per_reduction, Grid);
  }
  loops.arrange({Blocks, Grid, Serial, Unroll, Threads, Rows, Columns, Ones});
}

// ---- Stages of the sums -------------------------------------------------------------------------

/// An accumulator for each lane, then those of the threads. Returns the tensor that has all loops.
TensorView* factor_for_threads(LoopRoles& loops, const ReductionResults& results) {
  if (results.size() > 1) { // a Welford: where steps are written out, their counts are constants
    const ReductionResults parts = loops.factor({Unroll, Lanes}, results);
    const ReductionResults sums = loops.factor({Serial}, results);
    return parts.empty() ? sums.front() : parts.front();
  }
  TensorView* first = loops.factor({Serial, Unroll}, results).front();
  static_cast<void>(loops.factor({Lanes}, results));
  return first;
}

/// Accumulators of short chains, their sum, and sums of a few of those. The parts of a result are
/// stored, and summed by one task. Returns the tensor that has all loops.
TensorView* factor_for_tasks(
    LoopRoles loops, const ReductionParams& params, const ReductionResults& results) {
  ReductionResults parts =
      loops.has(Lanes) ? loops.factor({Chain}, results) : loops.factor({Chain, Unroll}, results);
  TensorView* first = parts.empty() ? nullptr : parts.front();
  const bool has_parts = loops.has(Grid);
  if (has_parts || loops.has(Lanes)) {
    parts = loops.factor({Serial}, results);
    first = first == nullptr ? parts.front() : first;
  }
  if (loops.has(Lanes)) {
    static_cast<void>(loops.factor({Unroll}, results));
    const LoopRoles with_lanes = loops;
    if (has_parts) {
      parts = loops.factor({Lanes}, results);
    }
    const ReductionResults& sums = has_parts ? parts : results;
    factor_into_short_sums(
        with_lanes.of(sums.front()), Lanes, params.unroll_factor_inner_reduction, sums);
  }
  if (has_parts) {
    for (TensorView* part : parts) {
      part->set_memory_type(MemoryType::Global);
    }
    if (!params.fastest_dim) {
      // One vector after the other, so that the short sums are registers.
      LoopRoles arranged = loops;
      for (TensorView* result : results) {
        arranged = loops.of(result);
        arranged.arrange({Blocks, Rows, Grid, Columns, Ones});
      }
      loops = arranged.of(results.front());
    }
    factor_into_short_sums(loops, Grid, params.blocks_per_reduction, results);
  }
  return first == nullptr ? results.front() : first;
}

// ---- Schedules ----------------------------------------------------------------------------------

void apply_for_tasks(FusionSummary& summary, const ReductionParams& params) {
  apply_in_tasks(
      summary, params, !has_rows_in_lanes(params) && may_have_chains(summary),
      [&](const LoopRoles& loops, const ReductionResults& results) {
        return factor_for_tasks(loops, params, results);
      });
}

void apply_for_threads(FusionSummary& summary, const ReductionParams& params) {
  const ReductionProblem& problem = *summary.problem();
  Fusion& fusion = summary.fusion();
  const int64_t lanes = lanes_of(params);
  const std::vector<int64_t> widths = widths_of(problem, params, lanes);
  const std::vector<TensorView*> moved = cache_global_tensors(problem.accesses);

  LoopRoles loops = make_canonical(reduced_tensor(problem.reference), problem);
  params.fastest_dim ? make_inner_for_threads(loops, params)
                     : make_outer_for_threads(loops, params);
  transform::transform_like(loops.tensor());
  const std::vector<ReductionResults> reductions = reduction_results(fusion);
  auto [bound, left] = factor_all(loops, reductions, factor_for_threads);
  bound.bind(Blocks, ParallelType::BIDx);
  bound.bind(Grid, ParallelType::BIDy);
  bound.bind(Rows, params.fastest_dim ? ParallelType::TIDy : ParallelType::TIDx);
  bound.bind(Threads, params.fastest_dim ? ParallelType::TIDx : ParallelType::TIDy);
  transform::parallelize_like(bound.tensor());

  std::vector<TensorView*> loads;
  for (size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] != nullptr) {
      vectorize_access(moved[i], widths[i], lanes);
      if (!problem.accesses[i].is_output && problem.accesses[i].has_all_axes) {
        loads.push_back(moved[i]);
      }
    }
  }
  group_where_possible(reductions);
  if (params.vectorize_iter_dom) {
    group_lanes(left, reductions);
  }
  if (bound.has(Unroll)) {
    unroll_loads(bound, loads);
  } else {
    loads.clear(); // inlined as all other tensors
  }
  transform::inline_most(fusion, computed_without(fusion, loads));
  share_with_other_threads(fusion);
}

} // namespace

void apply(FusionSummary& summary, const HeuristicParams& heuristics) {
  const auto& params = params_as<ReductionParams>(heuristics, SchedulerType::reduction);
  const FusionGuard guard(&summary.fusion());
  fix_sizes(summary.fusion(), axes_of_problem(*summary.problem()), params.fixed_sizes);
  const std::vector<Moments> moments = find_moments(summary);
  if (moments.empty()) {
    params.runs_in_tasks ? apply_for_tasks(summary, params) : apply_for_threads(summary, params);
    return;
  }
  combine_moments(summary.fusion(), moments);
  FusionSummary one_pass(summary.fusion());
  apply_for_threads(one_pass, params);
}

} // namespace nvfuser::schedule::reduction
