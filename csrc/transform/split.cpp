// TensorView::split: one loop axis in two.
//   before:  [.., N, ..]
//   after:   [.., ceilDiv(N, factor), factor, ..]   inner split
//            [.., factor, ceilDiv(N, factor), ..]   outer split
#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "ir/rules.h"
#include "transform/axis_checks.h"
#include "transform/rules.h"

namespace nvfuser::transform {
namespace {

std::optional<Refusal> find_wrong_factor(const TensorView* tv, int64_t factor) {
  if (factor > 0) {
    return std::nullopt;
  }
  return refuse(
      {.headline = {"Invalid factor for split. Factor must be greater than 0. Factor = ", factor},
       .node = describe(tv),
       .expected = "at least 1",
       .found = {factor},
       .fix = "give the extent of the inner axis, or with inner_split=False of the outer one"});
}

std::optional<Refusal> find_unsplittable_axis(const TensorView* tv, int64_t axis) {
  NVF_RETURN_REFUSAL(find_shared_axis(tv, axis, "split"));
  const IterDomain* id = tv->axis(axis);
  if (!id->is_parallelized()) {
    return std::nullopt;
  }
  return refuse(
      {.headline =
           {"Splitting an axis (", id->to_string(),
            ") of non-Serial parallel type is not supported at this time. "
            "Parallelization strategy must be set after calling split"},
       .node = describe(tv),
       .expected = "a serial axis",
       .found = {"parallel type ", id->parallel_type()},
       .fix = "split first, then parallelize the result"});
}

} // namespace

std::optional<Refusal> find_wrong_split(const TensorView* tv, int64_t axis, int64_t factor) {
  NVF_RETURN_REFUSAL(find_wrong_factor(tv, factor));
  return find_unsplittable_axis(tv, axis);
}

std::optional<Refusal> find_wrong_split(const TensorView* tv, int64_t axis, const Val* factor) {
  NVF_RETURN_REFUSAL(find_wrong_size(tv, factor, "split", "factor"));
  if (factor->is_const_int()) {
    NVF_RETURN_REFUSAL(find_wrong_factor(tv, as_int(factor->value())));
  }
  return find_unsplittable_axis(tv, axis);
}

} // namespace nvfuser::transform

namespace nvfuser {

TensorView* TensorView::split(int64_t axis, int64_t factor, bool inner_split) {
  check(transform::find_wrong_split(this, axis, factor)); // before the constant is made
  return split(axis, fusion()->new_index(factor), inner_split);
}

TensorView* TensorView::split(int64_t axis, Val* factor, bool inner_split) {
  check(transform::find_wrong_split(this, axis, factor));
  const int64_t position = wrap_axis(axis, ndims(), this);
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
