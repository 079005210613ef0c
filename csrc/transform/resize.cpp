// TensorView::resize: a loop over more than the axis.
//   before:  [.., N, ..]
//   after:   [.., left + N + right, ..]
#include "eval/simplify.h"
#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "ir/rules.h"
#include "ir/scalar.h"
#include "ir/transaction.h"
#include "transform/axis_checks.h"
#include "transform/rules.h"

namespace nvfuser::transform {
namespace {

std::optional<Refusal> find_bound_axis(const TensorView* tv, const IterDomain* id) {
  if (!id->is_parallelized()) {
    return std::nullopt;
  }
  return refuse(
      {.headline =
           {"Resizing an axis (", id->to_string(),
            ") of non-Serial parallel type is not supported at this time. "
            "Parallelization strategy must be set after calling resize"},
       .node = describe(tv),
       .expected = "a serial axis",
       .found = {"parallel type ", id->parallel_type()},
       .fix = "resize first, then parallelize the result"});
}

/// A loop over a part of the axis would leave elements without a value.
std::optional<Refusal> find_cropped_axis(const TensorView* tv, Val* left, Val* right) {
  IndexSimplifier simplifier(*tv->fusion());
  if (simplifier.prove_nonnegative(left) && simplifier.prove_nonnegative(right)) {
    return std::nullopt;
  }
  return refuse(
      {.headline = {"A loop cannot be resized to less than its axis"},
       .node = describe(tv),
       .expected = "widths that are provably not negative",
       .found = {left->to_inline_string(), " and ", right->to_inline_string()},
       .fix = "slice the tensor (ops.slice)"});
}

std::optional<Refusal> find_wrong_widths(
    const TensorView* tv, int64_t axis, Val* left, Val* right, std::optional<IterType> iter_type) {
  NVF_RETURN_REFUSAL(find_shared_axis(tv, axis, "resize"));
  NVF_RETURN_REFUSAL(find_bound_axis(tv, tv->axis(axis)));
  NVF_RETURN_REFUSAL(find_wrong_size(tv, left, "resize", "width"));
  NVF_RETURN_REFUSAL(find_wrong_size(tv, right, "resize", "width"));
  left = scalar::cast(DataType::Index, left);
  right = scalar::cast(DataType::Index, right);
  NVF_RETURN_REFUSAL(find_cropped_axis(tv, left, right));
  return nvfuser::find_wrong_resize(tv->axis(axis), left, right, iter_type);
}

} // namespace

std::optional<Refusal> find_wrong_resize(
    const TensorView* tv, int64_t axis, Val* left, Val* right, std::optional<IterType> iter_type) {
  Transaction transaction(tv->fusion());
  std::optional<Refusal> refusal = find_wrong_widths(tv, axis, left, right, iter_type);
  transaction.take_back(); // sums that were made to find out
  return refusal;
}

} // namespace nvfuser::transform

namespace nvfuser {

TensorView* TensorView::resize(
    int64_t axis, Val* left, Val* right, std::optional<IterType> iter_type) {
  check(transform::find_wrong_resize(this, axis, left, right, iter_type));
  left = scalar::cast(DataType::Index, left);
  right = scalar::cast(DataType::Index, right);
  const int64_t position = wrap_axis(axis, ndims(), this);
  IterDomains ids = loop();
  ids[static_cast<size_t>(position)] =
      resize_id(this->axis(position), left, right, iter_type, false);
  domain()->assign_loop(std::move(ids));
  record_step(steps::Resize{.axis = axis, .left = left, .right = right, .iter_type = iter_type});
  return this;
}

} // namespace nvfuser
