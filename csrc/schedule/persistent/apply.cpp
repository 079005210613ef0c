#include <algorithm>

#include "schedule/common/drawn_rows.h"
#include "schedule/common/factored_sums.h"
#include "schedule/common/global_tensors.h"
#include "schedule/common/moments.h"
#include "schedule/common/recompute.h"
#include "schedule/common/reduction_tasks.h"
#include "schedule/common/rescaled_sums.h"
#include "schedule/common/shifted_rows.h"
#include "schedule/common/staged_rows.h"
#include "schedule/persistent/persistent.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule::persistent {
namespace {

using enum LoopRole;

/// Whether each pass loads its rows from memory: they are not kept, in any form.
bool reads_again(const ReductionParams& params) {
  return params.project_persistent_buffers && !params.persistent_kernel;
}

/// Whether blocks of the whole grid share rows, and take them in turns.
bool takes_turns(const ReductionParams& params) {
  return params.persistent_kernel && params.cross_grid_inner_reduction;
}

int64_t blocks_of_row(const ReductionParams& params) {
  return takes_turns(params) ? params.blocks_per_reduction : params.blocks_per_cluster;
}

/// The index of the blocks that have rows of their own.
ParallelType type_of_blocks(const ReductionParams& params) {
  return blocks_of_row(params) > 1 ? ParallelType::BIDy : ParallelType::BIDx;
}

// ---- Loops of the reference ---------------------------------------------------------------------

/// Serial, the vectors of a row, becomes [Grid, Unroll, Threads]. What a thread keeps has a
/// constant size, so the number of threads follows from that of elements. If it is a constant as
/// well, all batches but the last of a row are whole, and no block has an end of its own.
void deal_row(LoopRoles& loops, const ReductionParams& params) {
  const bool is_shared = blocks_of_row(params) > 1;
  if (params.fastest_dim && params.static_bdimx) {
    loops.rename(Serial, is_shared ? Grid : Unroll);
    loops.split(is_shared ? Grid : Unroll, params.lparams.bdimx(), Threads);
    if (is_shared) {
      loops.split(Grid, params.batches_per_block_inner_reduction, Unroll);
    }
    return;
  }
  loops.rename(Serial, Threads);
  if (is_shared) {
    loops.cut(Threads, blocks_of_row(params), Grid);
  }
  loops.cut(Threads, params.batches_per_block_inner_reduction, Unroll);
}

/// [Blocks, Rows ty, Grid bx, Unroll, Threads tx, Lanes], and of an outer problem
/// [Blocks, Unroll, Threads ty, Rows tx, Columns]. Grid: the blocks that share a row, of a cluster
/// or, where rows are dealt in Turns, of the whole grid.
void make_for_threads(LoopRoles& loops, const ReductionParams& params) {
  if (params.shifts_rows) {
    shift_row(loops, Serial, type_of_blocks(params), params.unroll_factor_inner_reduction);
  }
  if (params.fastest_dim) {
    loops.split(Serial, params.unroll_factor_inner_reduction, Lanes);
  } else {
    loops.split(Blocks, params.unroll_factor_iter_dom, Columns);
    loops.split(Blocks, params.lparams.bdimx(), Rows);
  }
  if (reads_again(params)) {
    loops.split(Serial, params.lparams.bdimx(), Threads);
    loops.split(Serial, params.unroll_factor_top_of_vectorization, Unroll);
    loops.arrange({Blocks, Serial, Unroll, Threads, Lanes, Ones});
    return;
  }
  deal_row(loops, params);
  if (takes_turns(params)) {
    loops.rename(Blocks, Turns);
    loops.split(Turns, params.lparams.gdimy(), Blocks);
  }
  if (params.multiple_reds_per_blk) {
    loops.split(Blocks, params.lparams.bdimy(), Rows);
  }
  if (params.fastest_dim) {
    loops.arrange({Turns, Blocks, Rows, Grid, Unroll, Threads, Lanes, Ones});
  } else {
    loops.arrange({Blocks, Unroll, Threads, Rows, Columns, Ones});
  }
}

// ---- Stages of the sums: return the tensor that has all loops -----------------------------------

TensorView* factor_for_threads(LoopRoles& loops, const ReductionResults& results) {
  TensorView* first = nullptr;
  if (loops.has(Serial)) { // long: an accumulator for each lane
    first = loops.factor({Serial, Unroll}, results).front();
  }
  TensorView* partial = loops.factor({Unroll, Lanes}, results).front();
  return first == nullptr ? partial : first;
}

TensorView* factor_for_tasks(
    LoopRoles& loops, const ReductionParams& params, const ReductionResults& results) {
  if (!params.fastest_dim || has_rows_in_lanes(params)) {
    const ReductionResults partial = loops.factor({Chain, Unroll}, results);
    return partial.empty() ? results.front() : partial.front();
  }
  const ReductionResults chains = loops.factor({Chain}, results);
  const ReductionResults sums = loops.factor({Serial}, results);
  static_cast<void>(loops.factor({Unroll}, results));
  factor_into_short_sums(loops, Lanes, params.unroll_factor_inner_reduction, results);
  return chains.empty() ? sums.front() : chains.front();
}

// ---- Schedules ----------------------------------------------------------------------------------

/// Rows that are kept are short, and have no chains.
void apply_for_tasks(FusionSummary& summary, const ReductionParams& params) {
  if (params.project_persistent_buffers) {
    recompute_in_each_pass(summary);
  }
  const bool may_be_long = params.project_persistent_buffers || !params.fastest_dim;
  apply_in_tasks(
      summary, params, may_be_long && may_have_chains(summary),
      [&](LoopRoles& loops, const ReductionResults& results) {
        return factor_for_tasks(loops, params, results);
      });
  keep_arrays_in_scratch(summary.fusion());
}

/// The tensors, other than inputs, that the first pass puts into shared memory for later ones: none
/// where each pass computes all it needs from inputs.
KeptRows computed_rows_in_shared_memory(
    const FusionSummary& summary, const ReductionParams& params) {
  return params.keeps_rows_in_shared_memory && !params.project_persistent_buffers
             ? rows_of_first_pass(summary)
             : KeptRows{};
}

/// The tensors that load and store. Rows that are read again are loaded in each pass; else once,
/// and kept as they are stored if each pass computes what it needs from them: in registers, or in
/// shared memory, from where each pass loads them, as it does `kept`. Parts of rows are never kept.
std::vector<MovedTensor> move_global_tensors(
    FusionSummary& summary, const ReductionParams& params, const KeptRows& kept) {
  const std::vector<TensorAccess>& accesses = summary.problem()->accesses;
  const std::vector<const TensorView*> parts = parts_of_several_passes(summary);
  if (params.project_persistent_buffers || params.keeps_rows_in_shared_memory) {
    recompute_in_each_pass(summary, kept);
  } else {
    recompute_parts_in_each_pass(summary);
  }
  if (reads_again(params) || params.keeps_rows_in_shared_memory) {
    return cache_for_each_reader(accesses);
  }
  std::vector<MovedTensor> moved;
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (std::ranges::find(parts, accesses[i].tensor) != parts.end()) {
      for (const MovedTensor& load : cache_for_each_reader({accesses[i]})) {
        moved.push_back({load.tensor, i});
      }
    } else if (TensorView* tensor = cache_global_tensors({accesses[i]}).front()) {
      moved.push_back({tensor, i});
    }
  }
  return moved;
}

/// The inputs in shared memory that `moved` load their rows from, if they are kept there: those
/// that are loaded more than once.
std::vector<MovedTensor> keep_rows_in_shared_memory(
    const ReductionProblem& problem,
    const ReductionParams& params,
    const std::vector<int64_t>& widths,
    const std::vector<MovedTensor>& moved) {
  std::vector<MovedTensor> rows;
  if (!params.keeps_rows_in_shared_memory) {
    return rows;
  }
  for (size_t i = 0; i < problem.accesses.size(); ++i) {
    std::vector<TensorView*> loads;
    for (const MovedTensor& each : moved) {
      if (each.access == i) {
        loads.push_back(each.tensor);
      }
    }
    if (is_streamed(problem.accesses[i]) && loads.size() > 1) {
      rows.push_back({stage_in_shared_memory(problem.accesses[i], widths[i], loads), i});
    }
  }
  return rows;
}

/// The loads of shifted rows. Their vectors are tested where the row ends, and loads behind a test
/// would wait for uses before it.
std::vector<TensorView*> shifted_loads(
    const ReductionProblem& problem,
    const ReductionParams& params,
    const std::vector<MovedTensor>& moved) {
  std::vector<TensorView*> loads;
  for (const MovedTensor& each : moved) {
    if (params.shifts_rows && is_streamed(problem.accesses[each.access])) {
      loads.push_back(each.tensor);
    }
  }
  return loads;
}

void bind_to_threads(
    LoopRoles& loops, const ReductionParams& params, const std::vector<TensorView*>& tensors) {
  loops.bind(Blocks, type_of_blocks(params));
  loops.bind(Grid, ParallelType::BIDx);
  if (params.blocks_per_cluster > 1) {
    loops.axis(Grid)->set_clustered_blocks();
  }
  loops.bind(Rows, params.fastest_dim ? ParallelType::TIDy : ParallelType::TIDx);
  loops.bind(Threads, params.fastest_dim ? ParallelType::TIDx : ParallelType::TIDy);
  if (params.pad_inner_reduction_to_warp) {
    loops.axis(Threads)->pad_to_multiple_of_warp();
  }
  const bool has_whole_blocks = params.static_bdimx && params.blocks_per_cluster > 1 &&
                                !params.keeps_rows_in_shared_memory; // but for the last
  if (has_whole_blocks || params.shifts_rows) { // threads without an end of the row test nothing
    loops.bind(Unroll, ParallelType::Unswitch);
  }
  transform::parallelize_like(loops.tensor(), -1, tensors);
}

/// Tensors that have no loops of rows.
std::vector<TensorView*> joined(const std::vector<DrawnRows>& drawn) {
  std::vector<TensorView*> tensors;
  for (const DrawnRows& rows : drawn) {
    tensors.insert(tensors.end(), rows.begin(), rows.end());
  }
  return tensors;
}

/// The tensors that a primitive is to change. An empty list stands for every tensor, inputs among
/// them, which alone connect the passes that load a row again.
std::vector<TensorView*> all_but(const std::vector<TensorView*>& apart, const Fusion& fusion) {
  return apart.empty() ? std::vector<TensorView*>{} : computed_without(fusion, apart);
}

void apply_for_threads(FusionSummary& summary, const ReductionParams& params) {
  const ReductionProblem& problem = *summary.problem();
  Fusion& fusion = summary.fusion();
  const int64_t lanes = lanes_of(params);
  const std::vector<int64_t> widths = widths_of(problem, params, lanes);
  const KeptRows kept = computed_rows_in_shared_memory(summary, params);
  const std::vector<DrawnRows> drawn =
      params.draws_neighbours ? put_drawn_rows_in_shared_memory(summary) : std::vector<DrawnRows>{};
  const std::vector<TensorView*> apart = joined(drawn);
  const std::vector<MovedTensor> moved = move_global_tensors(summary, params, kept);
  const std::vector<MovedTensor> rows = keep_rows_in_shared_memory(problem, params, widths, moved);
  for (TensorView* row : kept) {
    row->set_memory_type(MemoryType::Shared);
  }
  LoopRoles loops = make_canonical(reduced_tensor(problem.reference), problem);
  make_for_threads(loops, params);
  transform::transform_like(loops.tensor(), all_but(apart, fusion));
  const std::vector<ReductionResults> reductions = reduction_results(fusion);
  auto [bound, left] = factor_all(loops, reductions, factor_for_threads);
  bind_to_threads(bound, params, all_but(apart, fusion));
  for (const DrawnRows& numbers : drawn) {
    schedule_drawn_rows(summary, numbers, params);
  }
  std::vector<TensorView*> loads; // that stand before their first use
  for (const MovedTensor& each : moved) {
    vectorize_access(each.tensor, widths[each.access], lanes);
    if (reads_again(params) && !problem.accesses[each.access].is_output &&
        problem.accesses[each.access].has_all_axes) {
      loads.push_back(each.tensor);
    }
  }
  std::vector<TensorView*> copies; // the rows of a thread, before the first vector is used
  // Outside of what a cluster shares as well: there, passes before and behind an exchange would
  // share a loop with the row, and no pass could be inlined into its reduction.
  const int64_t of_row = bound.position(bound.has(Grid) ? Grid : Unroll);
  for (const MovedTensor& row : rows) {
    vectorize_access(row.tensor, widths[row.access], lanes);
    transform::inline_at(bound.tensor(), of_row, false, {row.tensor});
    copies.push_back(row.tensor);
  }
  for (TensorView* row : kept) {
    transform::inline_at(bound.tensor(), of_row, false, {row});
    copies.push_back(row);
  }
  for (TensorView* row : shifted_loads(problem, params, moved)) {
    transform::inline_at(bound.tensor(), of_row, false, {row});
    copies.push_back(row);
  }
  group_where_possible(reductions);
  if (params.vectorize_iter_dom) {
    group_lanes(left, reductions);
  }
  unroll_loads(bound, loads);
  loads.insert(loads.end(), copies.begin(), copies.end());
  loads.insert(loads.end(), apart.begin(), apart.end());
  transform::inline_most(fusion, computed_without(fusion, loads));
  share_with_other_threads(fusion);
}

/// Blocks wait for each other: once, where a mean and squares about it take one pass.
void apply_for_turns(FusionSummary& summary, const ReductionParams& params) {
  const std::vector<Moments> moments = find_moments(summary, Differences::OfOthersToo);
  if (moments.empty()) {
    apply_for_threads(summary, params);
    return;
  }
  combine_moments(summary.fusion(), moments);
  FusionSummary one_pass(summary.fusion());
  apply_for_threads(one_pass, params);
}

/// Blocks of a cluster wait for each other, for sums that need no others together.
void apply_for_clusters(FusionSummary& summary, const ReductionParams& params) {
  if (!take_factors_out_of_sums(summary)) {
    apply_for_threads(summary, params);
    return;
  }
  FusionSummary with_fewer_waits(summary.fusion());
  apply_for_threads(with_fewer_waits, params);
}

ChunkedRow chunked_row(const FusionSummary& summary) {
  std::optional<ChunkedRow> row = find_chunked_row(summary);
  if (!row) {
    throw UserError(
        {.headline = "the row cannot be reduced in chunks",
         .node = describe(summary.problem()->reference),
         .expected = "maxima, and sums of exponentials about them",
         .found = "something else that is computed of the row behind a reduction",
         .fix = "leave elements_per_chunk at 1"});
  }
  return *std::move(row);
}

/// Place the values that are kept of each chunk: its maximum is found in the loops that sum about
/// it.
void keep_chunks(const LoopRoles& loops, const ReducedChunks& chunks) {
  for (TensorView* sum : chunks.sums) {
    sum->inline_at(loops.position(Serial), /*best_effort=*/true);
  }
  for (TensorView* maximum : chunks.maxima) {
    maximum->compute_with(loops.position(Threads) + 1, /*best_effort=*/true);
  }
}

/// [Blocks, Serial, Unroll, Threads], and the chunk behind.
void apply_for_chunks(FusionSummary& summary, const ReductionParams& params) {
  const ReductionProblem& problem = *summary.problem();
  Fusion& fusion = summary.fusion();
  const std::vector<int64_t> widths =
      widths_of(problem, params, params.unroll_factor_inner_reduction);
  const ReducedChunks chunks =
      reduce_in_chunks(summary, chunked_row(summary), params.elements_per_chunk);
  const std::vector<TensorView*> moved = cache_global_tensors(problem.accesses);
  LoopRoles loops = make_canonical(reduced_tensor(chunks.reference), problem);
  loops.rename(Serial, Threads);
  loops.cut(Threads, params.batches_per_block_inner_reduction, Serial);
  loops.split(Serial, params.unroll_factor_top_of_vectorization, Unroll);
  transform::transform_like(loops.tensor());
  TensorView* leader = nullptr;
  for (TensorView* result : chunks.results) {
    TensorView* reduced = reduced_tensor(result);
    TensorView* partial = loops.of(reduced).factor({Serial, Unroll}, {reduced}).front();
    leader = result == chunks.reference ? partial : leader;
  }
  LoopRoles bound = loops.of(leader);
  bound.bind(Blocks, ParallelType::BIDx);
  bound.bind(Threads, ParallelType::TIDx);
  bound.axis(Threads)->pad_to_multiple_of_warp();
  transform::parallelize_like(leader);
  std::vector<TensorView*> loads;
  for (size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] != nullptr) {
      vectorize_access(moved[i], widths[i], params.elements_per_chunk);
    }
    if (moved[i] != nullptr && !problem.accesses[i].is_output && problem.accesses[i].has_all_axes) {
      loads.push_back(moved[i]);
    }
  }
  unroll_loads(bound, loads);
  keep_chunks(bound, chunks);
  std::vector<TensorView*> inlined = loads;
  inlined.insert(inlined.end(), chunks.sums.begin(), chunks.sums.end());
  transform::inline_most(fusion, computed_without(fusion, inlined));
}

void apply(FusionSummary& summary, const HeuristicParams& heuristics, SchedulerType type) {
  const auto& params = params_as<ReductionParams>(heuristics, type);
  const FusionGuard guard(&summary.fusion());
  if (params.elements_per_chunk > 1) {
    apply_for_chunks(summary, params);
    return;
  }
  if (takes_turns(params)) {
    apply_for_turns(summary, params);
    return;
  }
  // From shared memory each sum loads the row, which its own wait had hidden.
  if (params.blocks_per_cluster > 1 && !params.keeps_rows_in_shared_memory) {
    apply_for_clusters(summary, params);
    return;
  }
  params.runs_in_tasks ? apply_for_tasks(summary, params) : apply_for_threads(summary, params);
}

} // namespace

void apply_inner(FusionSummary& summary, const HeuristicParams& params) {
  apply(summary, params, SchedulerType::inner_persistent);
}

void apply_outer(FusionSummary& summary, const HeuristicParams& params) {
  apply(summary, params, SchedulerType::outer_persistent);
}

} // namespace nvfuser::schedule::persistent
