// TensorView::merge: two loop axes into their product, at the smaller of their positions. The first
// one named varies slower, wherever it stands.
#include <algorithm>

#include "base/errors.h"
#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "ir/node_check.h"
#include "ir/transaction.h"
#include "transform/axis_checks.h"

namespace nvfuser {
namespace {

void check_one_is_serial(const TensorView* tv, const IterDomain* outer, const IterDomain* inner) {
  if (outer->is_parallelized() && inner->is_parallelized()) {
    throw UserError(
        {.headline = "Merging axes of non-Serial parallel type is not supported at this time.",
         .node = describe(tv),
         .expected = "a serial axis",
         .found = {outer->to_string(), " and ", inner->to_string()},
         .fix = "merge first, then parallelize the result"});
  }
}

} // namespace

TensorView* TensorView::merge(int64_t axis_o, int64_t axis_i) {
  const int64_t outer = check_free_axis(this, axis_o, "merge");
  const int64_t inner = check_free_axis(this, axis_i, "merge");
  NVF_NODE_CHECK(outer != inner, this, "Invalid merge detected, axes provided are the same axis.");
  check_one_is_serial(this, axis(outer), axis(inner));
  const Transaction transaction(fusion());
  IterDomain* merged = merge_ids(axis(outer), axis(inner));
  IterDomains ids = loop();
  ids[static_cast<size_t>(std::min(outer, inner))] = merged;
  ids.erase(ids.begin() + std::max(outer, inner));
  domain()->assign_loop(std::move(ids));
  record_step(steps::Merge{.axis_o = axis_o, .axis_i = axis_i});
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
  if (first == last) {
    return this;
  }
  static_cast<void>(check_free_axis(this, first, "merge"));
  // One merge may be refused where earlier ones were not: the loop domain changes after the last.
  const Transaction transaction(fusion());
  IterDomain* merged = axis(first);
  for (int64_t position = first + 1; position <= last; ++position) {
    check_one_is_serial(this, merged, axis(position));
    merged = merge_ids(merged, axis(position));
  }
  IterDomains ids = loop();
  ids[static_cast<size_t>(first)] = merged;
  ids.erase(ids.begin() + first + 1, ids.begin() + last + 1);
  domain()->assign_loop(std::move(ids));
  for (int64_t count = last - first; count > 0; --count) {
    record_step(steps::Merge{.axis_o = first, .axis_i = first + 1});
  }
  return this;
}

} // namespace nvfuser
