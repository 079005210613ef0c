// TensorView::resize: a loop over more than the axis.
//   before:  [.., N, ..]
//   after:   [.., left + N + right, ..]
#include "base/errors.h"
#include "eval/simplify.h"
#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "ir/scalar.h"
#include "transform/axis_checks.h"

namespace nvfuser {
namespace {

void check_serial(const TensorView* tv, const IterDomain* id) {
  if (id->is_parallelized()) {
    throw UserError(
        {.headline =
             {"Resizing an axis (", id->to_string(),
              ") of non-Serial parallel type is not supported at this time. "
              "Parallelization strategy must be set after calling resize"},
         .node = describe(tv),
         .expected = "a serial axis",
         .found = {"parallel type ", id->parallel_type()},
         .fix = "resize first, then parallelize the result"});
  }
}

/// A loop over a part of the axis would leave elements without a value.
void check_grows(const TensorView* tv, Val* left, Val* right) {
  IndexSimplifier simplifier(*tv->fusion());
  if (!simplifier.prove_nonnegative(left) || !simplifier.prove_nonnegative(right)) {
    throw UserError(
        {.headline = {"A loop cannot be resized to less than its axis"},
         .node = describe(tv),
         .expected = "widths that are provably not negative",
         .found = {left->to_inline_string(), " and ", right->to_inline_string()},
         .fix = "slice the tensor (ops.slice)"});
  }
}

} // namespace

TensorView* TensorView::resize(
    int64_t axis, Val* left, Val* right, std::optional<IterType> iter_type) {
  const int64_t position = check_free_axis(this, axis, "resize");
  IterDomain* id = this->axis(position);
  check_serial(this, id);
  check_size(this, left, "resize", "width");
  check_size(this, right, "resize", "width");
  left = scalar::cast(DataType::Index, left);
  right = scalar::cast(DataType::Index, right);
  check_grows(this, left, right);
  IterDomains ids = loop();
  ids[static_cast<size_t>(position)] = resize_id(id, left, right, iter_type, false);
  domain()->assign_loop(std::move(ids));
  record_step(steps::Resize{.axis = axis, .left = left, .right = right, .iter_type = iter_type});
  return this;
}

} // namespace nvfuser
