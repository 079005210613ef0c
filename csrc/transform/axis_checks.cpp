#include "transform/axis_checks.h"

#include <algorithm>

#include "base/errors.h"

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

} // namespace nvfuser
