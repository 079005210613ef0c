// TensorView::merge: two loop axes into their product, at the smaller of their positions. The first
// one named varies slower, wherever it stands.
#include <algorithm>

#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "ir/rules.h"
#include "ir/transaction.h"
#include "transform/axis_checks.h"
#include "transform/rules.h"

namespace nvfuser::transform {
namespace {

std::optional<Refusal> find_bound_pair(
    const TensorView* tv, const IterDomain* outer, const IterDomain* inner) {
  if (!outer->is_parallelized() || !inner->is_parallelized()) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "Merging axes of non-Serial parallel type is not supported at this time.",
       .node = describe(tv),
       .expected = "a serial axis",
       .found = {outer->to_string(), " and ", inner->to_string()},
       .fix = "merge first, then parallelize the result"});
}

/// The product of the loop axes from `first` to `last`, or why there is none.
std::optional<Refusal> try_merge_range(
    const TensorView* tv, int64_t first, int64_t last, IterDomain*& merged) {
  merged = tv->axis(first);
  for (int64_t position = first + 1; position <= last; ++position) {
    NVF_RETURN_REFUSAL(find_bound_pair(tv, merged, tv->axis(position)));
    NVF_RETURN_REFUSAL(nvfuser::find_wrong_merge(merged, tv->axis(position)));
    merged = merge_ids(merged, tv->axis(position));
  }
  return std::nullopt;
}

std::optional<Refusal> find_wrong_range(const TensorView* tv, int64_t from, int64_t to) {
  NVF_RETURN_REFUSAL(find_missing_axes(tv, "flatten"));
  NVF_RETURN_REFUSAL(find_wrong_axis(from, tv->ndims(), tv));
  NVF_RETURN_REFUSAL(find_wrong_axis(to, tv->ndims(), tv));
  const int64_t first = wrap_axis(from, tv->ndims(), tv);
  const int64_t last = wrap_axis(to, tv->ndims(), tv);
  if (first > last) {
    return refuse_node(
        tv, {"Invalid flatten range: axis ", from, " does not stand before axis ", to});
  }
  return first == last ? std::nullopt : find_shared_axis(tv, first, "merge");
}

} // namespace

std::optional<Refusal> find_wrong_merge(const TensorView* tv, int64_t axis_o, int64_t axis_i) {
  NVF_RETURN_REFUSAL(find_shared_axis(tv, axis_o, "merge"));
  NVF_RETURN_REFUSAL(find_shared_axis(tv, axis_i, "merge"));
  const IterDomain* outer = tv->axis(axis_o);
  const IterDomain* inner = tv->axis(axis_i);
  if (outer == inner) {
    return refuse_node(tv, {"Invalid merge detected, axes provided are the same axis."});
  }
  NVF_RETURN_REFUSAL(find_bound_pair(tv, outer, inner));
  return nvfuser::find_wrong_merge(outer, inner);
}

std::optional<Refusal> find_wrong_flatten(const TensorView* tv, int64_t from, int64_t to) {
  NVF_RETURN_REFUSAL(find_wrong_range(tv, from, to));
  // Whether a merge is refused depends on what the ones before it made.
  Transaction transaction(tv->fusion());
  IterDomain* merged = nullptr;
  std::optional<Refusal> refusal =
      try_merge_range(tv, wrap_axis(from, tv->ndims(), tv), wrap_axis(to, tv->ndims(), tv), merged);
  transaction.take_back();
  return refusal;
}

} // namespace nvfuser::transform

namespace nvfuser {

TensorView* TensorView::merge(int64_t axis_o, int64_t axis_i) {
  check(transform::find_wrong_merge(this, axis_o, axis_i));
  const int64_t outer = wrap_axis(axis_o, ndims(), this);
  const int64_t inner = wrap_axis(axis_i, ndims(), this);
  IterDomain* merged = merge_ids(axis(outer), axis(inner));
  IterDomains ids = loop();
  ids[static_cast<size_t>(std::min(outer, inner))] = merged;
  ids.erase(ids.begin() + std::max(outer, inner));
  domain()->assign_loop(std::move(ids));
  record_step(steps::Merge{.axis_o = axis_o, .axis_i = axis_i});
  return this;
}

TensorView* TensorView::merge(int64_t axis) {
  check(transform::find_shared_axis(this, axis, "merge"));
  const int64_t outer = wrap_axis(axis, ndims(), this);
  return merge(outer, outer + 1);
}

TensorView* TensorView::flatten(int64_t from, int64_t to) {
  check(transform::find_wrong_range(this, from, to));
  const int64_t first = wrap_axis(from, ndims(), this);
  const int64_t last = wrap_axis(to, ndims(), this);
  if (first == last) {
    return this;
  }
  // One merge may be refused where earlier ones were not: the loop domain changes after the last.
  const Transaction transaction(fusion());
  IterDomain* merged = nullptr;
  check(transform::try_merge_range(this, first, last, merged));
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
