#include "transform/axis_checks.h"

#include <algorithm>

#include "base/errors.h"
#include "ir/fusion.h"

namespace nvfuser {

void check_has_axes(const TensorView* tv, const char* action) {
  if (tv->ndims() == 0) {
    throw UserError(
        {.headline = {"Tried to do ", action, " on a 0-dim TensorView"},
         .node = describe(tv),
         .expected = "a tensor with loop axes",
         .found = "none",
         .fix = Part::none()});
  }
}

int64_t check_free_axis(const TensorView* tv, int64_t axis, const char* action) {
  check_has_axes(tv, action);
  axis = wrap_axis(axis, tv->ndims(), tv);
  const auto check_outside = [&](int64_t position, const char* words, const char* word) {
    if (axis < position) {
      throw UserError(
          {.headline =
               {"Cannot ", action, " axis within ", words, ". Axis = ", axis, " ", word, " = ",
                position},
           .node = describe(tv),
           .expected = {"an axis at or behind position ", position},
           .found = {"axis ", axis},
           .fix = "transform tensors before inlining them, or call clear_compute_position first"});
    }
  };
  check_outside(
      std::max(tv->compute_at_position(), tv->compute_with_position()), "compute at position",
      "computePosition");
  check_outside(tv->maybe_max_producer_position(), "max producer position", "maxProducerPosition");
  return axis;
}

void check_size(const TensorView* tv, const Val* size, const char* action, const char* role) {
  tv->fusion()->check_contains(size);
  if (!size->is_scalar() || !is_integral(size->dtype())) {
    throw UserError(
        {.headline =
             {"Invalid ", role, " for ", action, ". It must be an integer scalar, but is ",
              size->to_string()},
         .node = describe(tv),
         .expected = "a scalar of an integer type",
         .found = {size->to_string(), " of type ", size->dtype()},
         .fix = "give a number, or the extent of an axis"});
  }
}

IterDomains leading_axes(const TensorView* tv, int64_t count) {
  const int64_t size = tv->ndims();
  const int64_t wrapped = count < 0 ? count + size + 1 : count;
  if (wrapped < 0 || wrapped > size) {
    throw UserError(
        {.headline = {"Tried to access out of boundary index ", count, ". total index: ", size},
         .node = describe(tv),
         .expected = {"a number of axes in [", -size - 1, ", ", size, "]"},
         .found = {count},
         .fix = "print the tensor to see its loop domain; -1 is all of it"});
  }
  return {tv->loop().begin(), tv->loop().begin() + wrapped};
}

void check_binding(const IterDomain* from, const IterDomain* to) {
  to->check_parallelize(from->parallel_type());
  const std::optional<int64_t> padded = from->maybe_size_after_padding();
  const Val* extent = to->extent();
  if (padded.has_value() && extent->is_const_int() && *padded < as_int(extent->value())) {
    throw UserError(
        {.headline = "Padded size is smaller than the axis",
         .node = describe(to),
         .expected = {"at least the extent, ", extent->to_inline_string()},
         .found = {*padded, ", the padded size of ", from->to_string()},
         .fix = "leave the padding out (propagate_padding=False), and pad this axis by itself"});
  }
}

} // namespace nvfuser
