#include "transform/axis_checks.h"

#include <algorithm>

#include "ir/fusion.h"
#include "ir/rules.h"

namespace nvfuser::transform {
namespace {

std::optional<Refusal> find_axis_within(
    const TensorView* tv,
    int64_t axis,
    const char* action,
    int64_t position,
    const char* words,
    const char* word) {
  if (axis >= position) {
    return std::nullopt;
  }
  return refuse(
      {.headline =
           {"Cannot ", action, " axis within ", words, ". Axis = ", axis, " ", word, " = ",
            position},
       .node = describe(tv),
       .expected = {"an axis at or behind position ", position},
       .found = {"axis ", axis},
       .fix = "transform tensors before inlining them, or call clear_compute_position first"});
}

} // namespace

std::optional<Refusal> find_missing_axes(const TensorView* tv, const char* action) {
  if (tv->ndims() > 0) {
    return std::nullopt;
  }
  return refuse(
      {.headline = {"Tried to do ", action, " on a 0-dim TensorView"},
       .node = describe(tv),
       .expected = "a tensor with loop axes",
       .found = "none",
       .fix = Part::none()});
}

std::optional<Refusal> find_shared_axis(const TensorView* tv, int64_t axis, const char* action) {
  NVF_RETURN_REFUSAL(find_missing_axes(tv, action));
  NVF_RETURN_REFUSAL(find_wrong_axis(axis, tv->ndims(), tv));
  axis = wrap_axis(axis, tv->ndims(), tv);
  NVF_RETURN_REFUSAL(find_axis_within(
      tv, axis, action, std::max(tv->compute_at_position(), tv->compute_with_position()),
      "compute at position", "computePosition"));
  return find_axis_within(
      tv, axis, action, tv->maybe_max_producer_position(), "max producer position",
      "maxProducerPosition");
}

std::optional<Refusal> find_wrong_size(
    const TensorView* tv, const Val* size, const char* action, const char* role) {
  tv->fusion()->check_contains(size);
  if (size->is_scalar() && is_integral(size->dtype())) {
    return std::nullopt;
  }
  return refuse(
      {.headline =
           {"Invalid ", role, " for ", action, ". It must be an integer scalar, but is ",
            size->to_string()},
       .node = describe(tv),
       .expected = "a scalar of an integer type",
       .found = {size->to_string(), " of type ", size->dtype()},
       .fix = "give a number, or the extent of an axis"});
}

std::optional<Refusal> find_wrong_count(const TensorView* tv, int64_t count) {
  const int64_t size = tv->ndims();
  if (count >= -size - 1 && count <= size) {
    return std::nullopt;
  }
  return refuse(
      {.headline = {"Tried to access out of boundary index ", count, ". total index: ", size},
       .node = describe(tv),
       .expected = {"a number of axes in [", -size - 1, ", ", size, "]"},
       .found = {count},
       .fix = "print the tensor to see its loop domain; -1 is all of it"});
}

IterDomains leading_axes(const TensorView* tv, int64_t count) {
  check(find_wrong_count(tv, count));
  const int64_t wrapped = count < 0 ? count + tv->ndims() + 1 : count;
  return {tv->loop().begin(), tv->loop().begin() + wrapped};
}

std::optional<Refusal> find_wrong_binding(const IterDomain* from, const IterDomain* to) {
  NVF_RETURN_REFUSAL(find_wrong_parallel_type(to, from->parallel_type()));
  const std::optional<int64_t> padded = from->maybe_size_after_padding();
  const Val* extent = to->extent();
  if (!padded.has_value() || !extent->is_const_int() || *padded >= as_int(extent->value())) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "Padded size is smaller than the axis",
       .node = describe(to),
       .expected = {"at least the extent, ", extent->to_inline_string()},
       .found = {*padded, ", the padded size of ", from->to_string()},
       .fix = "leave the padding out (propagate_padding=False), and pad this axis by itself"});
}

} // namespace nvfuser::transform
