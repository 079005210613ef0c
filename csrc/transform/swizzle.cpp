// TensorView::swizzle: permute the positions of a square of two loop axes.
#include <bit>

#include "base/errors.h"
#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "ir/node_check.h"
#include "transform/axis_checks.h"

namespace nvfuser {
namespace {

void check_swizzled(const IterDomain* x, const IterDomain* y, SwizzleType type) {
  for (const IterDomain* id : {x, y}) {
    NVF_NODE_CHECK(!id->is_reduction(), id, "swizzled reduction not yet supported");
    NVF_NODE_CHECK(!id->is_broadcast(), id, "swizzling broadcast axes not yet supported");
    NVF_NODE_CHECK(
        id->extent()->is_const_int(), id,
        "Only constant iterdomains supported on given swizzle type");
  }
  const int64_t extent = as_int(x->extent()->value());
  NVF_NODE_CHECK(extent == as_int(y->extent()->value()), y, "Swizzle: equal dim iterdomains only");
  NVF_NODE_CHECK(
      type != SwizzleType::XOR ||
          (extent > 0 && std::has_single_bit(static_cast<uint64_t>(extent))),
      x, "XOR swizzle only support power of 2 domain sizes.");
}

} // namespace

TensorView* TensorView::swizzle(int64_t x, int64_t y) {
  return swizzle(SwizzleType::XOR, x, y);
}

TensorView* TensorView::swizzle(SwizzleType type, int64_t x, int64_t y) {
  const int64_t position_x = check_free_axis(this, x, "swizzle");
  const int64_t position_y = check_free_axis(this, y, "swizzle");
  NVF_NODE_CHECK(
      position_x != position_y, this, "Invalid swizzle, axes provided are the same axis.");
  check_swizzled(axis(position_x), axis(position_y), type);
  const auto [out_x, out_y] = swizzle_ids(type, axis(position_x), axis(position_y));
  IterDomains ids = loop();
  ids[static_cast<size_t>(position_x)] = out_x;
  ids[static_cast<size_t>(position_y)] = out_y;
  domain()->assign_loop(std::move(ids));
  record_step(steps::Swizzle{.swizzle_type = type, .x = x, .y = y});
  return this;
}

TensorView* TensorView::swizzle1d(int64_t x, ParallelType parallel_type) {
  const int64_t position = check_free_axis(this, x, "swizzle1d");
  IterDomains ids = loop();
  ids[static_cast<size_t>(position)] = swizzle1d_id(axis(position), parallel_type);
  domain()->assign_loop(std::move(ids));
  record_step(steps::Swizzle1d{.x = x, .parallel_type = parallel_type});
  return this;
}

} // namespace nvfuser
