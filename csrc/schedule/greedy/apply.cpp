#include <algorithm>

#include "schedule/common/canonical.h"
#include "schedule/common/global_tensors.h"
#include "schedule/common/loop_roles.h"
#include "schedule/common/reduction_loops.h"
#include "schedule/greedy/greedy.h"
#include "schedule/greedy/single_rows.h"
#include "schedule/params/greedy_params.h"
#include "schedule/trivial.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule::greedy {
namespace {

/// The loops of the reference, named while they are made: kept axes are Blocks, Rows, Columns, the
/// scanned one is Serial, Threads, Unroll, Lanes. Broadcasts stand behind them, as Ones.
class ScanLoopsOfReference {
 public:
  ScanLoopsOfReference(TensorView* reference, size_t scanned, const GreedyParams& params)
      : params_(params), loops_(merged(reference, static_cast<int64_t>(scanned))) {}

  /// Returns how many loops stand outside of what one thread, or task, loads at once.
  int64_t make() {
    if (params_.runs_in_tasks) {
      loops_.split(LoopRole::Blocks, params_.kept_lanes, LoopRole::Columns);
      loops_.split(LoopRole::Blocks, params_.rows_of_task, LoopRole::Rows);
      loops_.arrange(
          {LoopRole::Blocks, LoopRole::Rows, LoopRole::Serial, LoopRole::Columns, LoopRole::Ones});
      loops_.bind(LoopRole::Blocks, ParallelType::BIDx);
      return loops_.position(LoopRole::Serial) + 1;
    }
    const bool is_inner = params_.scans_innermost_axis;
    const ParallelType along = is_inner ? ParallelType::TIDx : ParallelType::TIDy;
    const ParallelType across = is_inner ? ParallelType::TIDy : ParallelType::TIDx;
    if (params_.kept_lanes > 1) {
      loops_.split(LoopRole::Blocks, params_.kept_lanes, LoopRole::Columns);
    }
    loops_.split(LoopRole::Blocks, params_.lparams.get(across), LoopRole::Rows);
    if (params_.scan_items > 1) {
      loops_.split(LoopRole::Serial, params_.scan_items, LoopRole::Lanes);
    }
    if (params_.scans_over_threads) {
      loops_.split(LoopRole::Serial, params_.lparams.get(along), LoopRole::Threads);
    }
    loops_.arrange(
        {LoopRole::Blocks, LoopRole::Rows, LoopRole::Serial, LoopRole::Threads, LoopRole::Lanes,
         LoopRole::Columns, LoopRole::Ones});
    loops_.bind(LoopRole::Blocks, ParallelType::BIDx);
    loops_.bind(LoopRole::Rows, across);
    loops_.bind(LoopRole::Threads, along);
    return loops_.position(params_.scans_over_threads ? LoopRole::Threads : LoopRole::Serial) + 1;
  }

 private:
  /// [K, S, B]: axes that are kept, merged in the order of memory; the scanned one; broadcasts.
  static LoopRoles merged(TensorView* reference, int64_t scanned) {
    order_like_memory(reference);
    std::vector<int64_t> kept;
    std::vector<int64_t> broadcasts;
    for (int64_t i = 0; i < reference->ndims(); ++i) {
      if (i != scanned) {
        (reference->axis(i)->is_broadcast() ? broadcasts : kept).push_back(i);
      }
    }
    return make_canonical(reference, kept, {scanned}, broadcasts);
  }

  const GreedyParams& params_;
  LoopRoles loops_;
};

void apply_scans(FusionSummary& summary, const GreedyParams& params) {
  Fusion& fusion = summary.fusion();
  const std::vector<TensorAccess>& accesses = summary.accesses();
  if (!params.vector_widths.empty()) {
    check_widths(params.vector_widths, accesses);
  }
  const std::vector<TensorView*> moved =
      params.runs_in_tasks ? fork_outputs(accesses)
                           : cache_global_tensors(accesses, rows_read_in_place(summary));
  TensorView* reference = moved[summary.reference_access()];

  const int64_t outside = ScanLoopsOfReference(reference, scanned_axis(summary), params).make();
  transform::transform_like(reference);
  transform::parallelize_like(reference);

  std::vector<TensorView*> loads;
  for (size_t i = 0; i < accesses.size() && !params.runs_in_tasks; ++i) {
    if (moved[i] == nullptr) {
      continue;
    }
    if (!params.vector_widths.empty()) {
      const int64_t lanes = params.scans_innermost_axis ? params.scan_items : params.kept_lanes;
      vectorize_access(moved[i], params.vector_widths[i], lanes);
    }
    if (!accesses[i].is_output) {
      loads.push_back(moved[i]);
    }
  }
  if (!loads.empty()) {
    transform::inline_at(reference, outside, /*best_effort=*/true, loads);
  }
  std::vector<TensorView*> others = fusion.tensors();
  std::erase_if(others, [&](const TensorView* tensor) {
    return tensor->is_fusion_input() || std::ranges::find(loads, tensor) != loads.end();
  });
  transform::inline_most(fusion, others);
}

} // namespace

void apply(FusionSummary& summary, const HeuristicParams& heuristics) {
  const auto& params = params_as<GreedyParams>(heuristics, SchedulerType::greedy);
  const FusionGuard guard(&summary.fusion());
  if (has_scatter(summary)) {
    check(try_trivial_on(summary.fusion(), params.scatter_blocks));
  } else {
    apply_scans(summary, params);
  }
}

} // namespace nvfuser::schedule::greedy
