#pragma once

#include <vector>

#include "schedule/params/heuristic_params.h"

namespace nvfuser {

/// How reductions are computed: of a sum alone, and of norms that keep their rows on chip. Sides
/// are those of the canonical problem [I], [I, R], [R, I] or [outer R, I, inner R].
struct ReductionChoice {
  static constexpr SchedulerType kType = SchedulerType::reduction;
  static constexpr const char* kTitle = "Reduction";

  bool fastest_dim = false;
  bool persistent_kernel = false;
  bool project_persistent_buffers = false;
  bool schedule_3d = false;
  bool flip_grid = false;
  bool cross_block_inner_reduction = false;
  bool cross_grid_inner_reduction = false;
  int64_t unroll_factor_inner_reduction = 1;
  int64_t unroll_factor_top_of_vectorization = 1;
  bool vectorize_inner_reduction = false;
  bool split_grid_dim_inner_reduction = false;
  bool pad_inner_reduction_to_warp = false;
  int64_t batches_per_block_inner_reduction = 1;
  ParallelType block_dim_inner_reduction = ParallelType::Serial;
  ParallelType grid_dim_inner_reduction = ParallelType::Serial;
  bool multiple_reds_per_blk = false;
  int64_t unroll_factor_iter_dom = 1;
  bool vectorize_iter_dom = false;
  bool split_grid_dim_iter_dom_inner = false;
  bool split_grid_dim_iter_dom_outer = false;
  ParallelType block_dim_iter_dom = ParallelType::Serial;
  ParallelType grid_dim_iter_dom = ParallelType::Serial;
  bool cross_block_outer_reduction = false;
  bool cross_grid_outer_reduction = false;
  int64_t batches_per_block_outer_reduction = 1;
  int64_t unroll_factor_outer_reduction = 1;
  ParallelType block_dim_outer_reduction = ParallelType::Serial;
  ParallelType grid_dim_outer_reduction = ParallelType::Serial;
  bool compute_persistent_buffer_with_first_consumer = false;
  bool static_bdimx = false;
  bool static_bdimy = false;
  bool combined_inner_outer = false;
  bool tidx_for_outer_reduction = false;
  bool pad_outer_reduction_to_warp = false;
  bool combined_split_grid_inner_dim = false;
  int64_t vectorization_factor_outer = 1;
  int64_t vectorization_factor_tmp_gmem_write = 1;
  ParallelType block_dim_inner_reduction_extra = ParallelType::Serial;
  bool runs_in_tasks = false;
  int64_t iterations_per_task = 1;
  int64_t blocks_per_reduction = 1;
  int64_t circular_buffer_stages = 1;
  int64_t elements_per_chunk = 1;
  int64_t blocks_per_cluster = 1; // that share a row; 1: blocks form no clusters
  bool keeps_rows_in_shared_memory = false;
  bool shifts_rows = false;
  bool draws_neighbours = false;
  std::vector<int64_t> fixed_sizes = {};
  std::vector<int64_t> vector_widths = {};

  static constexpr auto fields() {
    using P = ReductionChoice;
    return std::tuple{
        attr("fastest_dim", &P::fastest_dim, "The innermost dim is reduced."),
        attr("persistent_kernel", &P::persistent_kernel, "The input stays on chip between passes."),
        attr(
            "project_persistent_buffers", &P::project_persistent_buffers,
            "The fusion's inputs stay on chip instead of what is computed from them."),
        attr("schedule_3d", &P::schedule_3d, "The pattern is [reduction, iteration, reduction]."),
        attr("flip_grid", &P::flip_grid, "x and y of the grid are swapped, for outer reductions."),
        attr(
            "cross_block_inner_reduction", &P::cross_block_inner_reduction,
            "The inner reduction spans the threads of a block."),
        attr(
            "cross_grid_inner_reduction", &P::cross_grid_inner_reduction,
            "The inner reduction spans blocks."),
        attr(
            "unroll_factor_inner_reduction", &P::unroll_factor_inner_reduction,
            "Unroll or vector width on the inner reduction."),
        attr(
            "unroll_factor_top_of_vectorization", &P::unroll_factor_top_of_vectorization,
            "Further unroll outside of the vector."),
        attr(
            "vectorize_inner_reduction", &P::vectorize_inner_reduction,
            "Vectorize instead of unroll."),
        attr(
            "split_grid_dim_inner_reduction", &P::split_grid_dim_inner_reduction,
            "Split a grid dim that would be too large."),
        attr("pad_inner_reduction_to_warp", &P::pad_inner_reduction_to_warp, "Pad to whole warps."),
        attr(
            "batches_per_block_inner_reduction", &P::batches_per_block_inner_reduction,
            "Persistent batches of a thread."),
        attr(
            "block_dim_inner_reduction", &P::block_dim_inner_reduction,
            "The hardware index of the threads of the inner reduction."),
        attr(
            "grid_dim_inner_reduction", &P::grid_dim_inner_reduction,
            "The hardware index of the blocks of the inner reduction."),
        attr(
            "multiple_reds_per_blk", &P::multiple_reds_per_blk,
            "A block computes several outputs."),
        attr(
            "unroll_factor_iter_dom", &P::unroll_factor_iter_dom,
            "Unroll or vector width on the iteration side."),
        attr("vectorize_iter_dom", &P::vectorize_iter_dom, "Vectorize the iteration side."),
        attr(
            "split_grid_dim_iter_dom_inner", &P::split_grid_dim_iter_dom_inner,
            "Split an iteration grid dim that would be too large, inner part."),
        attr(
            "split_grid_dim_iter_dom_outer", &P::split_grid_dim_iter_dom_outer,
            "Split an iteration grid dim that would be too large, outer part."),
        attr(
            "block_dim_iter_dom", &P::block_dim_iter_dom,
            "The hardware index of the threads of the iteration side."),
        attr(
            "grid_dim_iter_dom", &P::grid_dim_iter_dom,
            "The hardware index of the blocks of the iteration side."),
        attr(
            "cross_block_outer_reduction", &P::cross_block_outer_reduction,
            "The outer reduction of a 3-D pattern spans threads."),
        attr(
            "cross_grid_outer_reduction", &P::cross_grid_outer_reduction,
            "The outer reduction of a 3-D pattern spans blocks."),
        attr(
            "batches_per_block_outer_reduction", &P::batches_per_block_outer_reduction,
            "Batches of a thread along the outer reduction."),
        attr(
            "unroll_factor_outer_reduction", &P::unroll_factor_outer_reduction,
            "Unroll of the outer reduction."),
        attr(
            "block_dim_outer_reduction", &P::block_dim_outer_reduction,
            "The hardware index of the threads of the outer reduction."),
        attr(
            "grid_dim_outer_reduction", &P::grid_dim_outer_reduction,
            "The hardware index of the blocks of the outer reduction."),
        attr(
            "compute_persistent_buffer_with_first_consumer",
            &P::compute_persistent_buffer_with_first_consumer,
            "Persistent buffers are computed at their first consumer."),
        attr("static_bdimx", &P::static_bdimx, "Compile with a constant blockDim.x."),
        attr("static_bdimy", &P::static_bdimy, "Compile with a constant blockDim.y."),
        attr(
            "combined_inner_outer", &P::combined_inner_outer,
            "Inner and outer reductions in one kernel."),
        attr(
            "tidx_for_outer_reduction", &P::tidx_for_outer_reduction,
            "The outer reduction runs over block_x."),
        attr(
            "pad_outer_reduction_to_warp", &P::pad_outer_reduction_to_warp,
            "Pad the outer reduction to whole warps."),
        attr(
            "combined_split_grid_inner_dim", &P::combined_split_grid_inner_dim,
            "A further grid split in the combined scheduler."),
        attr(
            "vectorization_factor_outer", &P::vectorization_factor_outer,
            "Vector width of the outer partial result."),
        attr(
            "vectorization_factor_tmp_gmem_write", &P::vectorization_factor_tmp_gmem_write,
            "Vector width of the write of partial results."),
        attr(
            "block_dim_inner_reduction_extra", &P::block_dim_inner_reduction_extra,
            "A second block dim for the inner reduction."),
        attr(
            "runs_in_tasks", &P::runs_in_tasks,
            "Whether a block is a task of a processor: no threads, and vectors are the innermost "
            "loops."),
        attr(
            "iterations_per_task", &P::iterations_per_task,
            "Results that a task computes one after the other."),
        attr(
            "blocks_per_reduction", &P::blocks_per_reduction,
            "Blocks, or tasks, that share the elements of one result."),
        attr(
            "circular_buffer_stages", &P::circular_buffer_stages,
            "Rows of a block in shared memory, of which it loads the next while it computes with "
            "one; 1: rows are loaded where they are needed."),
        attr(
            "blocks_per_cluster", &P::blocks_per_cluster,
            "Blocks of a cluster, which share a row; 1: none do."),
        attr(
            "keeps_rows_in_shared_memory", &P::keeps_rows_in_shared_memory,
            "Rows that several passes need, of inputs or of what the first pass computes, stay in "
            "shared memory, not in registers, and each pass loads them from there."),
        attr(
            "shifts_rows", &P::shifts_rows,
            "Rows that vectors do not divide are shifted to where vectors begin in memory, so that "
            "all accesses but those at their ends are vectors."),
        attr(
            "elements_per_chunk", &P::elements_per_chunk,
            "Neighbours of which a row keeps the maximum, and sums about it, instead of the "
            "elements; 1: it keeps elements. Divides the innermost axis that is reduced."),
        attr(
            "draws_neighbours", &P::draws_neighbours,
            "Whether a thread draws random numbers of neighbours, which the threads of their rows "
            "read from shared memory: of blocks that have several rows."),
        attr(
            "fixed_sizes", &P::fixed_sizes,
            "Sizes that the kernel is made for, of the axes that are kept and then of those that "
            "are reduced, in the order of memory; 0: any. Empty: all are any."),
        attr(
            "vector_widths", &P::vector_widths,
            "Elements of an access, for each tensor input that is read and then each output; "
            "empty: as wide as the layouts allow, and in tasks no vectors."),
    };
  }
  bool operator==(const ReductionChoice&) const = default;

  [[nodiscard]] static std::string body_of(const ParamsOf<ReductionChoice>& params);
  /// A thread keeps a fixed number of elements of a row on chip, so the number of threads follows.
  [[nodiscard]] static bool is_fixed_in(const ReductionChoice& params, ParallelType thread_dim) {
    const bool is_on_chip = params.persistent_kernel && !params.combined_inner_outer &&
                            !params.static_bdimx && !params.static_bdimy;
    return !is_on_chip || thread_dim != params.block_dim_inner_reduction;
  }
};
/// Params of `reduction`, `inner_persistent`, `outer_persistent` and `inner_outer_persistent`.
using ReductionParams = ParamsOf<ReductionChoice>;

} // namespace nvfuser
