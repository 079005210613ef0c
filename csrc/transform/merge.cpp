// TensorView::merge: two loop axes into their product, at the smaller of their positions. The first
// one named varies slower, wherever it stands.
#include <algorithm>

#include "base/errors.h"
#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "ir/node_check.h"
#include "transform/axis_checks.h"

namespace nvfuser {

TensorView* TensorView::merge(int64_t axis_o, int64_t axis_i) {
  const int64_t outer = check_free_axis(this, axis_o, "merge");
  const int64_t inner = check_free_axis(this, axis_i, "merge");
  NVF_NODE_CHECK(outer != inner, this, "Invalid merge detected, axes provided are the same axis.");
  if (axis(outer)->is_parallelized() && axis(inner)->is_parallelized()) {
    throw UserError(
        {.headline = "Merging axes of non-Serial parallel type is not supported at this time.",
         .node = describe(this),
         .expected = "a serial axis",
         .found = {axis(outer)->to_string(), " and ", axis(inner)->to_string()},
         .fix = "merge first, then parallelize the result"});
  }
  IterDomain* merged = merge_ids(axis(outer), axis(inner));
  IterDomains ids = loop();
  ids[static_cast<size_t>(std::min(outer, inner))] = merged;
  ids.erase(ids.begin() + std::max(outer, inner));
  domain()->assign_loop(std::move(ids));
  record_step("merge(" + std::to_string(axis_o) + ", " + std::to_string(axis_i) + ")");
  return this;
}

TensorView* TensorView::merge(int64_t axis) {
  const int64_t outer = check_free_axis(this, axis, "merge");
  return merge(outer, outer + 1);
}

TensorView* TensorView::flatten(int64_t from, int64_t to) {
  check_has_axes(this, "flatten");
  const int64_t first = wrap_axis(from, ndims(), this);
  const int64_t last = wrap_axis(to, ndims(), this);
  NVF_NODE_CHECK(
      first <= last, this, "Invalid flatten range: axis ", from, " does not stand before axis ",
      to);
  // One merge may be refused where earlier ones were not: look at all of them before the first.
  for (int64_t position = first; position < last; ++position) {
    const bool is_mixed = axis(position)->is_reduction() != axis(position + 1)->is_reduction();
    NVF_NODE_CHECK(
        !is_mixed, this, "Merging IterDomains requires that their iteration types match. Outer: ",
        axis(position)->to_string(), ", Inner: ", axis(position + 1)->to_string());
    NVF_NODE_CHECK(
        !axis(position + 1)->is_parallelized() || !axis(first)->is_parallelized(), this,
        "Merging axes of non-Serial parallel type is not supported at this time.");
  }
  for (int64_t count = last - first; count > 0; --count) {
    merge(first, first + 1);
  }
  return this;
}

} // namespace nvfuser
