// TensorView::swizzle: permute the positions of a square of two loop axes.
#include <bit>

#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "ir/rules.h"
#include "transform/axis_checks.h"
#include "transform/rules.h"

namespace nvfuser::transform {
namespace {

std::optional<Refusal> find_wrong_square(
    const IterDomain* x, const IterDomain* y, SwizzleType type) {
  for (const IterDomain* id : {x, y}) {
    if (id->is_reduction()) {
      return refuse_node(id, "swizzled reduction not yet supported");
    }
    if (id->is_broadcast()) {
      return refuse_node(id, "swizzling broadcast axes not yet supported");
    }
    if (!id->extent()->is_const_int()) {
      return refuse_node(id, "Only constant iterdomains supported on given swizzle type");
    }
  }
  const int64_t extent = as_int(x->extent()->value());
  if (extent != as_int(y->extent()->value())) {
    return refuse_node(y, "Swizzle: equal dim iterdomains only");
  }
  const bool is_power = extent > 0 && std::has_single_bit(static_cast<uint64_t>(extent));
  if (type == SwizzleType::XOR && !is_power) {
    return refuse_node(x, "XOR swizzle only support power of 2 domain sizes.");
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_wrong_swizzle(
    const TensorView* tv, SwizzleType type, int64_t x, int64_t y) {
  NVF_RETURN_REFUSAL(find_shared_axis(tv, x, "swizzle"));
  NVF_RETURN_REFUSAL(find_shared_axis(tv, y, "swizzle"));
  if (tv->axis(x) == tv->axis(y)) {
    return refuse_node(tv, "Invalid swizzle, axes provided are the same axis.");
  }
  return find_wrong_square(tv->axis(x), tv->axis(y), type);
}

std::optional<Refusal> find_wrong_swizzle1d(
    const TensorView* tv, int64_t x, ParallelType parallel_type) {
  NVF_RETURN_REFUSAL(find_shared_axis(tv, x, "swizzle1d"));
  return find_wrong_rotation(tv->axis(x), parallel_type);
}

} // namespace nvfuser::transform

namespace nvfuser {

TensorView* TensorView::swizzle(int64_t x, int64_t y) {
  return swizzle(SwizzleType::XOR, x, y);
}

TensorView* TensorView::swizzle(SwizzleType type, int64_t x, int64_t y) {
  check(transform::find_wrong_swizzle(this, type, x, y));
  const int64_t position_x = wrap_axis(x, ndims(), this);
  const int64_t position_y = wrap_axis(y, ndims(), this);
  const auto [out_x, out_y] = swizzle_ids(type, axis(position_x), axis(position_y));
  IterDomains ids = loop();
  ids[static_cast<size_t>(position_x)] = out_x;
  ids[static_cast<size_t>(position_y)] = out_y;
  domain()->assign_loop(std::move(ids));
  record_step(steps::Swizzle{.swizzle_type = type, .x = x, .y = y});
  return this;
}

TensorView* TensorView::swizzle1d(int64_t x, ParallelType parallel_type) {
  check(transform::find_wrong_swizzle1d(this, x, parallel_type));
  const int64_t position = wrap_axis(x, ndims(), this);
  IterDomains ids = loop();
  ids[static_cast<size_t>(position)] = swizzle1d_id(axis(position), parallel_type);
  domain()->assign_loop(std::move(ids));
  record_step(steps::Swizzle1d{.x = x, .parallel_type = parallel_type});
  return this;
}

} // namespace nvfuser
