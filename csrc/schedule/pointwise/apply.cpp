#include <algorithm>

#include "schedule/common/canonical.h"
#include "schedule/common/global_tensors.h"
#include "schedule/common/vector_widths.h"
#include "schedule/params/pointwise_params.h"
#include "schedule/pointwise/pointwise.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule::pointwise {
namespace {

/// The loops of the reference, named while they are made. Its broadcasts stand behind them.
class ReferenceLoops {
 public:
  ReferenceLoops(TensorView* reference, const PointwiseParams& params)
      : reference_(reference), params_(params) {}

  /// Returns how many of its leading axes a block or task has one iteration of.
  int64_t make() {
    order_like_memory(reference_);
    if (reference_->ndims() == 0) {
      return 0; // one element
    }
    const auto [outer, axes] = broadcasts_last();
    has_two_sides_ = outer > 0 && outer < axes;
    if (has_two_sides_) {
      merge_axes(reference_, 0, outer);
      merge_axes(reference_, 1, 1 + axes - outer);
    } else {
      merge_axes(reference_, 0, axes);
    }
    return params_.runs_in_tasks ? make_for_tasks() : make_for_threads();
  }

  [[nodiscard]] bool has_two_sides() const {
    return has_two_sides_;
  }

 private:
  /// Move the broadcasts of the reference behind its other axes, so that tensors without them share
  /// its loops. Returns how many axes are left of the break point, and how many are no broadcasts;
  /// if there are only broadcasts, they are the axes.
  std::pair<int64_t, int64_t> broadcasts_last() {
    std::vector<int64_t> order;
    std::vector<int64_t> broadcasts;
    int64_t outer = 0;
    for (int64_t i = 0; i < reference_->ndims(); ++i) {
      const bool is_broadcast = reference_->axis(i)->is_broadcast();
      (is_broadcast ? broadcasts : order).push_back(i);
      outer += !is_broadcast && i < params_.break_point ? 1 : 0;
    }
    const auto axes = static_cast<int64_t>(order.size());
    if (axes == 0) {
      return {params_.break_point, reference_->ndims()};
    }
    order.insert(order.end(), broadcasts.begin(), broadcasts.end());
    arrange_axes(reference_, order);
    return {outer, axes};
  }

  /// Split the axis at `position`, and return where the next split of its outer part is.
  void split(int64_t position, int64_t factor) {
    reference_->split(position, std::max<int64_t>(factor, 1));
  }

  /// [R] -> [gx, Ui, V];  [L, R] -> [gL, gR, Uo, Ui, V] -> [g, Uo, Ui, V]
  int64_t make_for_tasks() {
    const int64_t inner = has_two_sides_ ? 1 : 0;
    split(inner, params_.vectorization_factor);
    split(inner, params_.unroll_factor_inner);
    if (has_two_sides_) {
      split(0, params_.unroll_factor_outer); // [gL, Uo, gR, Ui, V]
      arrange_axes(reference_, {0, 2, 1, 3, 4});
      reference_->merge(0, 1);
    }
    reference_->axis(0)->parallelize(ParallelType::BIDx);
    return 1;
  }

  /// [R] -> [gx, Ui, tx, V];  [L, R] -> [gL, gR, Uo, Ui, ty, tx, V]
  int64_t make_for_threads() {
    const int64_t inner = has_two_sides_ ? 1 : 0;
    split(inner, params_.vectorization_factor);
    split(inner, params_.lparams.bdimx());
    split(inner, params_.unroll_factor_inner);
    if (!has_two_sides_) {
      reference_->axis(0)->parallelize(ParallelType::BIDx);
      reference_->axis(2)->parallelize(ParallelType::TIDx);
      return 1;
    }
    split(0, params_.split_block ? params_.lparams.bdimy() : 1);
    split(0, params_.unroll_factor_outer); // [gL, Uo, ty, gR, Ui, tx, V]
    arrange_axes(reference_, {0, 3, 1, 4, 2, 5, 6});
    reference_->axis(4)->parallelize(ParallelType::TIDy);
    reference_->axis(5)->parallelize(ParallelType::TIDx);
    return bind_blocks();
  }

  /// Bind [gL, gR, ..].
  int64_t bind_blocks() {
    const int64_t on_y = params_.flip_grid_binding ? 1 : 0;
    reference_->axis(1 - on_y)->parallelize(ParallelType::BIDx);
    if (!params_.split_grid_y_dim) {
      reference_->axis(on_y)->parallelize(ParallelType::BIDy);
      return 2;
    }
    split(on_y, LaunchParams::kMaxGridYZ);
    reference_->axis(on_y)->parallelize(ParallelType::BIDz);
    reference_->axis(on_y + 1)->parallelize(ParallelType::BIDy);
    return 3;
  }

  TensorView* reference_;
  const PointwiseParams& params_;
  bool has_two_sides_ = false;
};

/// Loads are written out, so that all stand before the first use; what is computed runs vector
/// after vector, and needs registers for one. `begin`: of the axes of one thread.
void unroll_loads(
    TensorView* reference,
    int64_t begin,
    bool has_rows,
    const std::vector<TensorView*>& loads,
    const PointwiseParams& params) {
  if (loads.empty() || reference->ndims() == 0) {
    return;
  }
  std::vector<IterDomain*> unrolled;
  if (has_rows && params.unroll_factor_outer > 1) {
    unrolled.push_back(reference->axis(begin));
  }
  if (params.unroll_factor_inner > 1) {
    unrolled.push_back(reference->axis(has_rows ? begin + 1 : begin));
  }
  for (IterDomain* axis : unrolled) {
    axis->parallelize(ParallelType::Unroll);
  }
  transform::parallelize_like(reference, -1, loads, {ParallelType::Unroll});
  for (IterDomain* axis : unrolled) {
    axis->parallelize(ParallelType::Serial);
  }
}

/// Widths of the accesses: as the params say, or as wide as layouts allow.
std::vector<int64_t> widths_of(const FusionSummary& summary, const PointwiseParams& params) {
  const std::vector<TensorAccess>& accesses = summary.accesses();
  if (!params.vector_widths.empty()) {
    check_widths(params.vector_widths, accesses, summary.lookups());
    return params.vector_widths;
  }
  std::vector<int64_t> widths;
  for (const TensorAccess& access : accesses) {
    const size_t merged = access.has_axis.size() - static_cast<size_t>(params.break_point);
    widths.push_back(may_be_vectorized(access, merged) ? params.vectorization_factor : 1);
  }
  for (const LookupAccess& lookup : summary.lookups()) {
    widths.push_back(lookup.run.exists ? params.vectorization_factor : 1);
  }
  return widths;
}

} // namespace

void apply(FusionSummary& summary, const HeuristicParams& heuristics) {
  const auto& params = params_as<PointwiseParams>(heuristics, SchedulerType::pointwise);
  Fusion& fusion = summary.fusion();
  const FusionGuard guard(&fusion);
  const std::vector<TensorAccess>& accesses = summary.accesses();
  const std::vector<int64_t> widths = widths_of(summary, params);

  const std::vector<TensorView*> moved =
      params.runs_in_tasks ? fork_outputs(accesses) : cache_global_tensors(accesses);
  TensorView* reference = moved[summary.reference_access()];

  ReferenceLoops loops(reference, params);
  const int64_t of_block = loops.make();
  transform::transform_like(reference);
  transform::parallelize_like(reference);

  std::vector<TensorView*> loads;
  for (size_t i = 0; i < accesses.size() && !params.runs_in_tasks; ++i) {
    if (moved[i] == nullptr) {
      continue;
    }
    vectorize_access(moved[i], widths[i], params.vectorization_factor);
    if (!accesses[i].is_output) {
      loads.push_back(moved[i]);
    }
  }
  if (!params.runs_in_tasks) {
    for (size_t i = accesses.size(); TensorView* load : lookup_loads(summary.lookups())) {
      vectorize_access(load, widths[i++], params.vectorization_factor);
      loads.push_back(load);
    }
    unroll_loads(reference, of_block, loops.has_two_sides(), loads, params);
  }
  if (!loads.empty()) {
    transform::inline_at(reference, of_block, /*best_effort=*/true, loads);
  }
  std::vector<TensorView*> others = fusion.tensors();
  std::erase_if(others, [&](const TensorView* tensor) {
    return tensor->is_fusion_input() || std::ranges::find(loads, tensor) != loads.end();
  });
  transform::inline_most(fusion, others);
}

} // namespace nvfuser::schedule::pointwise
