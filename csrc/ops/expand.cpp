#include <algorithm>

#include "ir/pointwise.h"
#include "ir/shape_exprs.h"
#include "ops/operands.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

/// The axis that `expand` makes of one axis. `is_expanded`: the result is not just a copy.
struct ExpandedAxis {
  IterDomainSpec spec;
  bool is_expanded = false;
};

[[noreturn]] void throw_mismatch(const IterDomain* axis, Val* size) {
  throw UserError({
      .headline = {"Invalid expand size, ", size->to_inline_string(), ", for ", axis->to_string()},
      .node = describe(axis),
      .expected = {"the dimension's own size, or a dimension of size 1"},
      .found = {size->to_inline_string()},
      .fix = {"give -1 for dimensions that keep their size"},
  });
}

ExpandedAxis expand_axis(const IterDomain* axis, Val* size) {
  ExpandedAxis result{.spec = copied_spec(axis)};
  IterDomainSpec& spec = result.spec;
  const bool is_size_one = axis->extent()->is_const_int(1);
  if (size->is_const_int(-1)) {
    return result;
  }
  check_not_negative(size, axis);
  // Whether an axis has that size or is repeated shows when both are known. A constant, or the size
  // of another tensor, is held against the axis like that of any two axes that meet.
  const bool is_computed = size->definition() != nullptr || size->is_fusion_input();
  if (axis->has_expanded_extent()) {
    if (is_computed && !size->same_as(axis->expanded_extent())) {
      spec = {.extent = size, .iter_type = IterType::Symbolic};
      result.is_expanded = true;
    } else {
      spec.expanded_extent = agreed_extent(axis->expanded_extent(), size, axis);
    }
    return result;
  }
  if (is_size_one && (axis->is_broadcast() || axis->is_symbolic_axis())) {
    if (!size->is_const_int(1)) {
      spec.iter_type = IterType::Broadcast;
      spec.expanded_extent = size;
      result.is_expanded = true;
    }
    return result;
  }
  if (axis->extent()->is_const_int()) {
    if (size->is_const_int() && as_int(size->value()) != as_int(axis->extent()->value())) {
      throw_mismatch(axis, size);
    }
    return result;
  }
  const bool is_open = axis->is_symbolic_axis() || (axis->is_iteration() && is_computed);
  if (is_open && !size->same_as(axis->extent())) {
    spec.iter_type = IterType::Symbolic;
    result.is_expanded = true;
  }
  spec.extent = size;
  return result;
}

} // namespace

TensorView* expand(TensorView* arg, const std::vector<Val*>& shape) {
  Fusion& fusion = fusion_for({arg});
  fusion_for(shape);
  const auto num_missing = static_cast<int64_t>(shape.size()) - arg->rank();
  NVF_NODE_CHECK(
      num_missing >= 0, arg, "expand: the new shape has fewer dimensions (", shape.size(),
      ") than the operand (", arg->rank(), ").");
  std::vector<bool> flags(shape.size(), false);
  std::fill_n(flags.begin(), num_missing, true);
  TensorView* operand = broadcast(arg, flags);

  const IterDomains axes = shape_axes(operand);
  std::vector<Val*> sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    sizes.push_back(as_extent(shape[i]));
  }
  IterDomains logical;
  std::vector<Val*> extents;
  bool is_expanded = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const ExpandedAxis expanded = expand_axis(axes[i], sizes[i]);
    is_expanded = is_expanded || expanded.is_expanded;
    logical.push_back(fusion.new_iter_domain(expanded.spec));
    extents.push_back(logical.back()->maybe_expanded_extent());
  }
  TensorView* out = new_tensor(logical, operand->dtype());
  if (is_expanded) {
    fusion.make<ExpandOp>({.out = out, .arg = operand, .extents = extents});
  } else { // a copy, but its extents may be other expressions of the same sizes
    fusion.make<LoadStoreOp>(
        {.out = out, .arg = operand, .op = LoadStoreOpType::Set, .cache_op = CacheOp::Streaming});
  }
  return out;
}

} // namespace nvfuser::ops
