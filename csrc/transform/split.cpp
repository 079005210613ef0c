// TensorView::split: one loop axis in two.
//   before:  [.., N, ..]
//   after:   [.., ceilDiv(N, factor), factor, ..]   inner split
//            [.., factor, ceilDiv(N, factor), ..]   outer split
#include "base/errors.h"
#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "transform/axis_checks.h"

namespace nvfuser {
namespace {

void check_positive(const TensorView* tv, int64_t factor) {
  if (factor <= 0) {
    throw UserError(
        {.headline = {"Invalid factor for split. Factor must be greater than 0. Factor = ", factor},
         .node = describe(tv),
         .expected = "at least 1",
         .found = {factor},
         .fix = "give the extent of the inner axis, or with inner_split=False of the outer one"});
  }
}

/// Position of an axis that can be split.
int64_t check_split(const TensorView* tv, int64_t axis) {
  axis = check_free_axis(tv, axis, "split");
  const IterDomain* id = tv->axis(axis);
  if (id->is_parallelized()) {
    throw UserError(
        {.headline =
             {"Splitting an axis (", id->to_string(),
              ") of non-Serial parallel type is not supported at this time. "
              "Parallelization strategy must be set after calling split"},
         .node = describe(tv),
         .expected = "a serial axis",
         .found = {"parallel type ", id->parallel_type()},
         .fix = "split first, then parallelize the result"});
  }
  return axis;
}

} // namespace

TensorView* TensorView::split(int64_t axis, int64_t factor, bool inner_split) {
  check_positive(this, factor);
  static_cast<void>(check_split(this, axis)); // before the constant is made
  return split(axis, fusion()->new_index(factor), inner_split);
}

TensorView* TensorView::split(int64_t axis, Val* factor, bool inner_split) {
  check_size(this, factor, "split", "factor");
  if (factor->is_const_int()) {
    check_positive(this, as_int(factor->value()));
  }
  const int64_t position = check_split(this, axis);
  const auto [outer, inner] = split_id(this->axis(position), factor, inner_split);
  IterDomains ids = loop();
  ids[static_cast<size_t>(position)] = outer;
  ids.insert(ids.begin() + position + 1, inner);
  domain()->assign_loop(std::move(ids));
  record_step(steps::Split{.axis = axis, .factor = factor, .inner_split = inner_split});
  return this;
}

TensorView* TensorView::inner_split(int64_t axis, int64_t factor) {
  return split(axis, factor, true);
}

TensorView* TensorView::outer_split(int64_t axis, int64_t factor) {
  return split(axis, factor, false);
}

} // namespace nvfuser
