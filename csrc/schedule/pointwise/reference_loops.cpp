#include "schedule/pointwise/reference_loops.h"

#include <algorithm>
#include <vector>

#include "schedule/common/canonical.h"

namespace nvfuser::schedule::pointwise {

int64_t ReferenceLoops::make() {
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

/// Move the broadcasts of the reference behind its other axes, so that tensors without them share
/// its loops. Returns how many axes are left of the break point, and how many are no broadcasts;
/// if there are only broadcasts, they are the axes.
std::pair<int64_t, int64_t> ReferenceLoops::broadcasts_last() {
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

/// Split the axis at `position` by a positive factor.
void ReferenceLoops::split(int64_t position, int64_t factor) {
  reference_->split(position, std::max<int64_t>(factor, 1));
}

/// [R] -> [gx, Ui, V];  [L, R] -> [gL, gR, Uo, Ui, V] -> [g, Uo, Ui, V]
int64_t ReferenceLoops::make_for_tasks() {
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
int64_t ReferenceLoops::make_for_threads() {
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
int64_t ReferenceLoops::bind_blocks() {
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

} // namespace nvfuser::schedule::pointwise
