#include <algorithm>

#include "base/register_file.h"
#include "schedule/common/drawn_rows.h"
#include "schedule/common/problem_sizes.h"
#include "schedule/common/shifted_rows.h"
#include "schedule/common/short_rows.h"
#include "schedule/common/staged_rows.h"
#include "schedule/params/reduction_params.h"
#include "schedule/persistent/layouts.h"
#include "schedule/persistent/persistent.h"

namespace nvfuser::schedule::persistent {
namespace {

/// Elements of a row that many warps share, of which two have an end.
constexpr int64_t kLongRow = 4096;

std::unique_ptr<ReductionParams> make_params(SchedulerType type, bool is_inner) {
  auto params = std::make_unique<ReductionParams>(type);
  params->persistent_kernel = true;
  params->fastest_dim = is_inner;
  params->grid_dim_iter_dom = ParallelType::BIDx;
  return params;
}

std::vector<int64_t> widths_up_to(std::vector<int64_t> widths, int64_t lanes) {
  for (int64_t& width : widths) {
    width = std::min(width, lanes);
  }
  return widths;
}

void choose_reread_row(const RereadRow& row, const ProblemSizes& sizes, ReductionParams& params) {
  params.persistent_kernel = false;
  params.project_persistent_buffers = true;
  params.unroll_factor_inner_reduction = sizes.vectors.lanes;
  params.vectorize_inner_reduction = sizes.vectors.lanes > 1;
  params.unroll_factor_top_of_vectorization = row.vectors;
  params.cross_block_inner_reduction = true;
  params.block_dim_inner_reduction = ParallelType::TIDx;
  params.lparams.bind(ParallelType::TIDx, row.threads);
  params.lparams.bind(ParallelType::BIDx, sizes.kept);
}

void choose_row_of_grid(const RowOfGrid& row, ReductionParams& params) {
  params.project_persistent_buffers = true;
  params.keeps_rows_in_shared_memory = true;
  params.cparams.maxrregcount = row.registers;
  params.unroll_factor_inner_reduction = row.lanes;
  params.vectorize_inner_reduction = row.lanes > 1;
  params.batches_per_block_inner_reduction = row.batches;
  params.cross_block_inner_reduction = true;
  params.block_dim_inner_reduction = ParallelType::TIDx;
  params.pad_inner_reduction_to_warp = row.is_padded;
  params.cross_grid_inner_reduction = true;
  params.grid_dim_inner_reduction = ParallelType::BIDx;
  params.grid_dim_iter_dom = ParallelType::BIDy;
  params.blocks_per_reduction = row.blocks;
  params.lparams.bind(ParallelType::TIDx, row.threads);
  params.lparams.bind(ParallelType::BIDx, row.blocks);
  params.lparams.bind(ParallelType::BIDy, row.rows);
}

void choose_row_of_chunks(
    const RowOfChunks& row, const ProblemSizes& sizes, ReductionParams& params) {
  params.elements_per_chunk = row.chunk;
  params.unroll_factor_inner_reduction = row.lanes;
  params.vectorize_inner_reduction = row.lanes > 1;
  params.unroll_factor_top_of_vectorization = row.unroll;
  params.batches_per_block_inner_reduction = row.batches;
  params.pad_inner_reduction_to_warp = true;
  params.cparams.maxrregcount = row.registers;
  params.cross_block_inner_reduction = true;
  params.block_dim_inner_reduction = ParallelType::TIDx;
  params.lparams.bind(ParallelType::TIDx, row.threads);
  params.lparams.bind(ParallelType::BIDx, sizes.kept);
}

/// Where the length of rows is known and batches do not divide it, their threads are a constant.
/// The blocks of a cluster have whole batches then, but for the last one: elements are compared
/// with the end of the row, and not with that of a block as well.
void fix_threads(const RowOfThreads& row, const ProblemSizes& sizes, ReductionParams& params) {
  const int64_t vectors = ceil_div(sizes.reduced, row.lanes);
  const int64_t batches = ceil_div(vectors, row.threads); // of all blocks
  const bool may_be_shared = row.lanes == 1 && ceil_div(batches, row.batches) == row.blocks;
  if (!sizes.is_of_one_length || row.threads * row.batches * row.blocks == vectors ||
      (row.blocks > 1 && !may_be_shared)) {
    return;
  }
  params.static_bdimx = true;
  params.pad_inner_reduction_to_warp = false; // whole warps already, if it has any
  params.batches_per_block_inner_reduction = row.blocks > 1 ? row.batches : batches;
}

void choose_row_of_threads(
    const RowOfThreads& row, const ProblemSizes& sizes, ReductionParams& params) {
  params.project_persistent_buffers = row.keeps_inputs;
  params.keeps_rows_in_shared_memory = row.is_in_shared_memory;
  params.cparams.maxrregcount = row.registers;
  params.unroll_factor_inner_reduction = row.lanes;
  params.vectorize_inner_reduction = row.lanes > 1;
  params.batches_per_block_inner_reduction = row.batches;
  params.pad_inner_reduction_to_warp = row.is_padded;
  params.cross_block_inner_reduction = true;
  params.block_dim_inner_reduction = ParallelType::TIDx;
  params.lparams.bind(ParallelType::TIDx, row.threads);
  if (!params.shifts_rows) { // a batch with the end of its row would have tests for many threads
    fix_threads(row, sizes, params);
  }
  if (row.rows > 1) {
    params.multiple_reds_per_blk = true;
    params.block_dim_iter_dom = ParallelType::TIDy;
    params.lparams.bind(ParallelType::TIDy, row.rows);
  }
  if (row.blocks > 1) {
    params.blocks_per_cluster = row.blocks;
    params.grid_dim_inner_reduction = ParallelType::BIDx;
    params.grid_dim_iter_dom = ParallelType::BIDy;
    params.lparams.bind(ParallelType::BIDx, row.blocks);
    params.lparams.bind(ParallelType::BIDy, sizes.kept);
    params.lparams.set_cluster_size(row.blocks);
    return;
  }
  params.lparams.bind(ParallelType::BIDx, ceil_div(sizes.kept, row.rows));
}

/// Whether one block holds a row as it is, with room for its loads and for a second row on its
/// multiprocessor; and, where single elements each would have a random number, draws those of
/// several rows together.
bool holds_row(const FusionSummary& summary, const Target& target, const ProblemSizes& sizes) {
  const std::optional<RowOfThreads> row = find_row_of_threads(summary, target, sizes);
  const bool has_room =
      row && !row->is_crowded && (row->share >= kEnoughShare || sizes.kept < target.num_sms);
  const bool draws_alone =
      draws_rows(summary) && sizes.vectors.lanes == 1 && sizes.reduced >= kLongRow;
  return has_room && (!draws_alone || find_rows_that_draw(summary, target, sizes, *row));
}

/// Whether some row that is loaded has elements as wide as a register, so that all vectors of a
/// thread, which are loaded before the first is used, take as many as what they become.
bool loads_words(const ReductionProblem& problem) {
  return std::ranges::any_of(problem.accesses, [](const TensorAccess& access) {
    return is_streamed(access) && size_bytes(access.tensor->dtype()) >= kRegisterBytes;
  });
}

/// Shift rows that a block does not hold otherwise; of words, those that only a cluster holds.
/// Warps with an end of the row take two paths: they are few of a cluster, or of a block with a
/// long row, and many of a short one, which is faster with single elements. Returns whether it
/// does.
bool choose_shifted_row(
    const FusionSummary& summary,
    const RunFacts& facts,
    const ProblemSizes& sizes,
    ReductionParams& params) {
  const Target& target = facts.target();
  const ReductionProblem& problem = *summary.problem();
  const bool are_words = loads_words(problem);
  const std::optional<ProblemSizes> shifted =
      draws_rows(summary) && !are_words
          ? find_shifted_sizes(problem, sizes, facts, kNumbersOfCipher)
          : find_shifted_sizes(problem, sizes, facts);
  if (!shifted) {
    return false;
  }
  const auto alone = find_row_of_threads(summary, target, *shifted);
  const bool has_room = alone && !alone->is_crowded;
  if (are_words ? has_room : holds_row(summary, target, sizes)) {
    return false;
  }
  const auto row = has_room && alone->share >= kEnoughShare
                       ? alone
                       : find_row_of_cluster(summary, target, *shifted);
  if (!row || row->is_crowded || row->rows > 1) {
    return false;
  }
  params.shifts_rows = true;
  params.vector_widths = shifted->vectors.widths;
  choose_row_of_threads(*row, *shifted, params);
  return true;
}

/// Whether threads that have single elements, or two, draw numbers of neighbours instead. The rows
/// of a block then are whole groups of them, and it has a constant number of threads.
bool should_draw_neighbours(
    const FusionSummary& summary, const RowOfThreads& row, const ProblemSizes& sizes) {
  return row.lanes < kNumbersOfCipher && row.rows % kNumbersOfCipher == 0 && row.blocks == 1 &&
         !row.keeps_inputs && sizes.is_of_one_length && draws_rows(summary);
}

/// Whether a block with a row of vectors is alone on its multiprocessor, and waits for several
/// reductions one after the other, while nothing is loaded or stored.
bool waits_alone(const FusionSummary& summary, const RowOfThreads& row, const ProblemSizes& sizes) {
  return sizes.vectors.lanes > 1 && row.rows == 1 && row.share < kEnoughShare &&
         summary.reductions().size() > 1;
}

} // namespace

std::unique_ptr<HeuristicParams> compute_inner_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  const ProblemSizes sizes = sizes_of(*summary.problem(), facts);
  auto params = make_params(SchedulerType::inner_persistent, /*is_inner=*/true);
  if (!facts.target().is_cuda()) {
    const std::optional<RowOfTask> kept = find_row_of_task(summary, facts.target(), sizes);
    params->project_persistent_buffers = !kept;
    const RowOfTask row = kept.value_or(row_of_task(sizes));
    params->runs_in_tasks = true;
    if (const std::optional<ShortRows> groups = find_short_rows(sizes)) {
      params->project_persistent_buffers = false;
      choose_short_rows(*groups, sizes, *params);
      return params;
    }
    params->unroll_factor_inner_reduction = row.lanes;
    params->unroll_factor_top_of_vectorization = row.accumulators;
    params->iterations_per_task = row.rows;
    params->lparams.bind(ParallelType::BIDx, ceil_div(sizes.kept, row.rows));
    return params;
  }
  if (choose_shifted_row(summary, facts, sizes, *params)) {
    return params;
  }
  params->vector_widths = sizes.vectors.widths;
  const std::optional<RowOfThreads> kept = find_row_of_threads(summary, facts.target(), sizes);
  if (!kept || kept->is_crowded) {
    if (const auto chunks = find_row_of_chunks(summary, facts.target(), facts)) {
      choose_row_of_chunks(*chunks, sizes, *params);
      return params;
    }
  }
  const std::optional<RowOfThreads> shared =
      !kept || kept->is_crowded || waits_alone(summary, *kept, sizes)
          ? find_row_of_cluster(summary, facts.target(), sizes)
          : std::nullopt;
  if (!kept && !shared) {
    if (const auto again = find_reread_row(summary, facts.target(), sizes)) {
      choose_reread_row(*again, sizes, *params);
    } else {
      choose_row_of_grid(*find_row_of_grid(summary, facts.target(), sizes), *params);
    }
    return params;
  }
  const RowOfThreads in_registers = shared ? *shared : *kept;
  RowOfThreads row = find_row_in_shared_memory(summary, facts.target(), sizes, in_registers)
                         .value_or(in_registers);
  if (row.rows % kNumbersOfCipher != 0) {
    row = find_rows_that_draw(summary, facts.target(), sizes, row).value_or(row);
  }
  choose_row_of_threads(row, sizes, *params);
  params->draws_neighbours = should_draw_neighbours(summary, row, sizes);
  return params;
}

std::unique_ptr<HeuristicParams> compute_outer_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  const ProblemSizes sizes = sizes_of(*summary.problem(), facts);
  auto params = make_params(SchedulerType::outer_persistent, /*is_inner=*/false);
  if (!facts.target().is_cuda()) {
    params->runs_in_tasks = true;
    params->unroll_factor_iter_dom = *find_columns_of_task(summary, facts.target(), sizes);
    params->lparams.bind(ParallelType::BIDx, ceil_div(sizes.kept, params->unroll_factor_iter_dom));
    return params;
  }
  const ColumnsOfThreads block = *find_columns_of_threads(summary, facts.target(), sizes);
  params->vector_widths = widths_up_to(sizes.vectors.widths, block.lanes);
  params->unroll_factor_iter_dom = block.lanes;
  params->vectorize_iter_dom = block.lanes > 1;
  params->batches_per_block_inner_reduction = block.batches;
  params->cross_block_inner_reduction = true;
  params->block_dim_iter_dom = ParallelType::TIDx;
  params->block_dim_inner_reduction = ParallelType::TIDy;
  params->lparams.bind(ParallelType::TIDx, block.columns);
  params->lparams.bind(ParallelType::TIDy, block.rows);
  params->lparams.bind(
      ParallelType::BIDx, ceil_div(ceil_div(sizes.kept, block.lanes), block.columns));
  return params;
}

} // namespace nvfuser::schedule::persistent
