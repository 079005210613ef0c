#include <algorithm>

#include "schedule/common/factored_sums.h"
#include "schedule/common/global_tensors.h"
#include "schedule/common/recompute.h"
#include "schedule/common/reduction_loops.h"
#include "schedule/common/shifted_rows.h"
#include "schedule/common/staged_rows.h"
#include "schedule/inner_outer/inner_outer.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule::inner_outer {
namespace {

using enum LoopRole;

/// A reduction over rows: positions of the axes of the problem among its own.
struct Outer {
  TensorView* result = nullptr;
  std::vector<int64_t> rows = {};
  std::vector<int64_t> columns = {};
};

/// Before the fusion is edited.
std::vector<Outer> find_outer(const FusionSummary& summary) {
  const ReductionProblem& problem = *summary.problem();
  std::vector<Outer> found;
  for (const ReductionFacts* facts : outer_reductions(summary)) {
    Outer outer{.result = facts->out};
    const IterDomains& axes = facts->out->logical();
    const auto find = [&](const IterDomains& wanted, std::vector<int64_t>& positions) {
      for (const IterDomain* axis : wanted) {
        const auto own = std::ranges::find_if(axes, [&](const IterDomain* candidate) {
          return summary.exact().are_mapped(candidate, axis);
        });
        positions.push_back(own - axes.begin());
      }
    };
    find(problem.kept, outer.rows);
    find(problem.reduced, outer.columns);
    found.push_back(std::move(outer));
  }
  return found;
}

/// The tensors that are computed after all rows: sums, what loads their parts, what follows.
std::vector<TensorView*> with_all_behind(std::vector<TensorView*> tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    for (TensorView* consumer : tensors[i]->consumers()) {
      if (std::ranges::find(tensors, consumer) == tensors.end()) {
        tensors.push_back(consumer);
      }
    }
  }
  return tensors;
}

/// The schedule while it is made. Rows are dealt to blocks in both stages alike.
class Recipe {
 public:
  Recipe(FusionSummary& summary, const ReductionParams& params)
      : summary_(summary),
        fusion_(summary.fusion()),
        problem_(*summary.problem()),
        params_(params),
        outer_(find_outer(summary)) {}

  void apply() {
    if (params_.project_persistent_buffers || params_.keeps_rows_in_shared_memory) {
      recompute_in_each_pass(summary_);
    }
    const std::vector<MovedTensor> moved = move_global_tensors();
    widths_ = widths_of(problem_, params_, params_.unroll_factor_inner_reduction);
    keep_columns(moved);
    stage_rows(moved);
    for (Outer& outer : outer_) {
      outer.result = reduced_tensor(outer.result);
    }
    find_inner_results();
    factor_rows();
    schedule_rows(moved);
    schedule_sums();
    group_where_possible(inner_);
    group_where_possible(results_of_outer());
    inline_tensors();
  }

 private:
  void find_inner_results() {
    inner_ = reduction_results(fusion_);
    std::erase_if(inner_, [&](const ReductionResults& results) {
      return std::ranges::find(outer_, results.front(), &Outer::result) != outer_.end();
    });
  }

  [[nodiscard]] std::vector<ReductionResults> results_of_outer() const {
    std::vector<ReductionResults> found;
    for (const Outer& outer : outer_) {
      found.push_back({outer.result});
    }
    return found;
  }

  /// The type of the axis whose blocks, or clusters, take rows; blocks of a cluster share each row.
  [[nodiscard]] ParallelType type_of_blocks() const {
    return params_.blocks_per_cluster > 1 ? ParallelType::BIDy : ParallelType::BIDx;
  }

  /// [I] -> [Rows, Blocks, Groups]: blocks take rows in turn, one for each of their groups.
  void deal_rows(LoopRoles& loops) const {
    loops.rename(Blocks, Rows);
    if (params_.multiple_reds_per_blk) {
      loops.split(Rows, params_.lparams.bdimy(), Groups);
    }
    loops.split(Rows, params_.blocks_per_reduction, Blocks);
  }

  /// Sums of a block over its rows, which are stored: what is left sums those of all blocks.
  void factor_rows() {
    for (const Outer& outer : outer_) {
      LoopRoles loops = make_canonical(outer.result, outer.rows, outer.columns, {});
      deal_rows(loops);
      TensorView* part = loops.factor({Rows}, {outer.result}).front();
      if (loops.has(Groups)) {
        part = loops.factor({Groups}, {outer.result}).front();
      }
      stored_.push_back(part->cache_after());
      stored_.back()->set_memory_type(MemoryType::Global);
      loads_.push_back(stored_.back()->cache_after());
      sums_.push_back(loops);
      second_.push_back(loads_.back());
    }
    second_ = with_all_behind(second_);
  }

  // ---- First stage ------------------------------------------------------------------------------

  /// The tensors that load and store. Where shared memory keeps rows, each pass loads what it
  /// needs.
  [[nodiscard]] std::vector<MovedTensor> move_global_tensors() const {
    if (params_.keeps_rows_in_shared_memory) {
      return cache_for_each_reader(problem_.accesses);
    }
    std::vector<MovedTensor> moved;
    const std::vector<TensorView*> tensors = cache_global_tensors(problem_.accesses);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i] != nullptr) {
        moved.push_back({tensors[i], i});
      }
    }
    return moved;
  }

  /// Tensors that all rows share are loaded once, and not inlined into the loop over rows; unless
  /// registers have no room for them beside the sums.
  void keep_columns(const std::vector<MovedTensor>& moved) {
    for (const MovedTensor& each : moved) {
      if (!params_.keeps_rows_in_shared_memory &&
          is_of_columns(problem_.accesses[each.access], problem_)) {
        outside_.push_back(each.tensor);
      }
    }
  }

  /// Rows pass through shared memory, where the next one arrives while one is computed with, or
  /// stay there.
  void stage_rows(const std::vector<MovedTensor>& moved) {
    for (size_t i = 0; i < problem_.accesses.size(); ++i) {
      const TensorAccess& access = problem_.accesses[i];
      std::vector<TensorView*> loads;
      for (const MovedTensor& each : moved) {
        if (each.access == i) {
          loads.push_back(each.tensor);
        }
      }
      const bool passes = params_.circular_buffer_stages > 1 && is_staged(access, widths_[i]);
      const bool stays = params_.keeps_rows_in_shared_memory && is_streamed(access);
      if (!loads.empty() && (passes || stays)) {
        staged_.push_back({stage_in_shared_memory(access, widths_[i], loads), i});
      }
    }
  }

  /// Serial, the vectors of a row, becomes [Grid, Unroll, Threads]. If the number of threads is a
  /// constant, all batches but the last are whole.
  void deal_row(LoopRoles& loops) const {
    if (params_.static_bdimx) {
      const int64_t warps = params_.multiple_reds_per_blk ? 1 : params_.lparams.bdimy();
      loops.rename(Serial, Unroll);
      loops.split(Unroll, params_.lparams.bdimx() * warps, Threads);
      return;
    }
    loops.rename(Serial, Threads);
    if (params_.blocks_per_cluster > 1) {
      loops.cut(Threads, params_.blocks_per_cluster, Grid);
    }
    loops.cut(Threads, params_.batches_per_block_inner_reduction, Unroll);
  }

  void schedule_rows(const std::vector<MovedTensor>& moved) {
    LoopRoles loops = make_canonical(reduced_tensor(problem_.reference), problem_);
    deal_rows(loops);
    if (params_.shifts_rows) {
      shift_row(loops, Serial, type_of_blocks(), params_.unroll_factor_inner_reduction);
    }
    loops.split(Serial, params_.unroll_factor_inner_reduction, Lanes);
    deal_row(loops);
    loops.split(Threads, params_.lparams.bdimx(), Warp);
    loops.arrange({Rows, Blocks, Groups, Grid, Unroll, Threads, Warp, Lanes});
    transform::transform_like(loops.tensor(), computed_without(fusion_, second_));

    TensorView* leader = nullptr;
    for (const ReductionResults& results : inner_) {
      LoopRoles left = loops.of(results.front());
      TensorView* first = left.factor({Unroll, Lanes}, results).front();
      leader = results.front() == loops.tensor() ? first : leader;
    }
    LoopRoles bound = loops.of(leader);
    bound.bind(Blocks, type_of_blocks());
    if (bound.has(Grid)) {
      bound.bind(Grid, ParallelType::BIDx);
      bound.axis(Grid)->set_clustered_blocks();
    }
    bound.bind(Groups, ParallelType::TIDy);
    bound.bind(Threads, bound.has(Groups) ? ParallelType::TIDz : ParallelType::TIDy);
    bound.bind(Warp, ParallelType::TIDx);
    if (params_.shifts_rows) { // vectors without an end of the row have no tests
      bound.bind(Lanes, ParallelType::Unswitch);
    }
    transform::parallelize_like(leader, -1, computed_without(fusion_, second_));
    vectorize(moved);
    vectorize(staged_);
    for (TensorView* stored : stored_) {
      vectorize_access(
          stored, params_.vectorization_factor_tmp_gmem_write,
          params_.unroll_factor_inner_reduction);
    }
    prefetch_rows(bound);
    load_shifted_rows(bound, moved);
  }

  /// All vectors of a shifted row before the first is used: they are tested where the row ends, and
  /// loads behind a test would wait for uses before it.
  void load_shifted_rows(const LoopRoles& loops, const std::vector<MovedTensor>& moved) {
    const int64_t of_row = loops.position(loops.has(Grid) ? Grid : Unroll);
    for (const MovedTensor& each : moved) {
      const bool is_staged =
          std::ranges::find(staged_, each.access, &MovedTensor::access) != staged_.end();
      if (params_.shifts_rows && !is_staged && is_streamed(problem_.accesses[each.access])) {
        transform::inline_at(loops.tensor(), of_row, false, {each.tensor});
        outside_.push_back(each.tensor);
      }
    }
  }

  void prefetch_rows(const LoopRoles& loops) const {
    const int64_t stages = params_.circular_buffer_stages;
    // Outside of what a cluster shares, so that each pass may be inlined into its reduction.
    const int64_t of_row = loops.position(loops.has(Grid) ? Grid : Unroll);
    for (const MovedTensor& row : staged_) {
      transform::inline_at(loops.tensor(), of_row, false, {row.tensor});
      if (stages > 1 && is_staged(problem_.accesses[row.access], widths_[row.access])) {
        row.tensor->circular_buffer(stages, stages - 1);
      }
    }
  }

  void vectorize(const std::vector<MovedTensor>& moved) const {
    for (const MovedTensor& each : moved) {
      if (std::ranges::find(second_, each.tensor) == second_.end()) {
        vectorize_access(each.tensor, widths_[each.access], params_.unroll_factor_inner_reduction);
      }
    }
  }

  // ---- Second stage -----------------------------------------------------------------------------

  /// Whether the rows of threads of a block share the parts of its columns; else each thread adds
  /// up all parts of columns of its own.
  [[nodiscard]] bool shares_parts() const {
    return params_.block_dim_outer_reduction == ParallelType::TIDy;
  }

  /// [Blocks r, Serial] -> [Serial, Grid, Rows, Blocks r, Unroll r, Threads, Warp]: columns are
  /// dealt to blocks. Threads: those of a block share the parts of a column, or have columns.
  LoopRoles deal_columns(LoopRoles& loops) const {
    loops.split(Serial, params_.lparams.bdimx(), Warp);
    loops.split(shares_parts() ? Blocks : Serial, params_.lparams.bdimy(), Threads);
    loops.split(Serial, params_.blocks_per_reduction, Rows);
    if (params_.blocks_per_cluster > 1) {
      loops.split(Serial, params_.blocks_per_cluster, Grid);
    }
    loops.split(Blocks, params_.unroll_factor_outer_reduction, Unroll);
    if (!shares_parts()) {
      loops.arrange({Serial, Grid, Rows, Threads, Warp, Blocks, Unroll});
      return loops;
    }
    loops.arrange({Serial, Grid, Rows, Blocks, Unroll, Threads, Warp});
    const LoopRoles all = loops;
    return all.of(loops.factor({Blocks, Unroll}, {loops.tensor()}).front());
  }

  void schedule_sums() {
    for (size_t i = 0; i < sums_.size(); ++i) {
      LoopRoles partial = deal_columns(sums_[i]);
      const std::vector<TensorView*> tensors = with_all_behind({loads_[i]});
      transform::transform_like(partial.tensor(), tensors);
      partial.bind(Rows, type_of_blocks());
      partial.bind(Grid, ParallelType::BIDx);
      partial.bind(Threads, ParallelType::TIDy);
      partial.bind(Warp, ParallelType::TIDx);
      transform::parallelize_like(partial.tensor(), -1, tensors);
      partial.bind(Unroll, ParallelType::Unroll);
      transform::parallelize_like(partial.tensor(), -1, {loads_[i]}, {ParallelType::Unroll});
      partial.bind(Unroll, ParallelType::Serial);
      partials_.push_back(partial);
    }
  }

  void inline_tensors() {
    for (size_t i = 0; i < loads_.size(); ++i) {
      transform::inline_at(
          partials_[i].tensor(), partials_[i].position(Unroll), /*best_effort=*/true, {loads_[i]});
    }
    std::vector<TensorView*> placed = loads_;
    placed.insert(placed.end(), outside_.begin(), outside_.end());
    for (const MovedTensor& row : staged_) {
      placed.push_back(row.tensor);
    }
    transform::inline_most(fusion_, computed_without(fusion_, placed));
  }

  FusionSummary& summary_;
  Fusion& fusion_;
  const ReductionProblem& problem_;
  const ReductionParams& params_;
  std::vector<Outer> outer_;
  std::vector<int64_t> widths_;      // of the accesses
  std::vector<TensorView*> outside_; // loads before the loop over rows, or before all of a row
  std::vector<MovedTensor> staged_;  // in shared memory
  std::vector<ReductionResults> inner_;
  std::vector<TensorView*> second_; // tensors of the second stage
  std::vector<LoopRoles> sums_;     // of the second stage, as in `outer_`
  std::vector<TensorView*> stored_; // what blocks pass on
  std::vector<TensorView*> loads_;
  std::vector<LoopRoles> partials_; // sums of a thread over the parts that it loads
};

} // namespace

void apply(FusionSummary& summary, const HeuristicParams& heuristics) {
  const auto& params =
      params_as<ReductionParams>(heuristics, SchedulerType::inner_outer_persistent);
  const FusionGuard guard(&summary.fusion());
  if (take_factors_out_of_sums(summary)) {
    FusionSummary with_fewer_waits(summary.fusion());
    Recipe(with_fewer_waits, params).apply();
    return;
  }
  Recipe(summary, params).apply();
}

} // namespace nvfuser::schedule::inner_outer
