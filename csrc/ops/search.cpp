#include "ops/search.h"

#include "ir/domain_exprs.h"
#include "ir/scalar.h"
#include "ir/search_exprs.h"
#include "ops/create.h"
#include "ops/operands.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

void check_only_axis(const char* op, int64_t dim) {
  NVF_USER_CHECK(
      dim == 0 || dim == -1, op, ": dim of a 0-dim tensor must be 0 or -1, but got ", dim);
}

/// Axes of the operand as the result reads them, and those it has: `k` elements along `dim`.
TensorDomainSpec cut_to(const TensorView* arg, int64_t dim, Val* k) {
  Fusion& fusion = Fusion::active();
  TensorDomainSpec spec;
  const IterDomains axes = shape_axes(arg);
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool is_cut = i == static_cast<size_t>(dim);
    IterDomain* in = copy_axis(axes[i], is_cut);
    spec.root.push_back(in);
    spec.logical.push_back(in);
    Val* growth = is_cut ? scalar::sub(k, in->extent()) : fusion.zero();
    if (growth->is_zero()) {
      continue;
    }
    spec.logical.back() = fusion.new_iter_domain(
        IterDomainSpec{
            .extent = k,
            .iter_type = !k->is_const_int() ? IterType::Symbolic
                         : k->is_one()      ? IterType::Broadcast
                                            : IterType::Iteration,
            .is_rfactor = true});
    fusion.make<Resize>(
        {.out = spec.logical.back(), .in = in, .left = fusion.zero(), .right = growth});
  }
  if (spec.root == spec.logical) {
    spec.root.clear();
  }
  return spec;
}

TensorView* zero_position() {
  return zeros({}, DataType::Int);
}

} // namespace

TopK topk(TensorView* arg, Val* k, int64_t dim, bool largest, bool sorted) {
  Fusion& fusion = fusion_for({arg, k});
  NVF_NODE_CHECK(
      k->dtype() == DataType::Int, k, "TopKOp expects int64_t input for k but got ", k->dtype());
  check_not_complex("topk", arg);
  const IterDomains axes = shape_axes(arg);
  if (axes.empty()) {
    check_only_axis("topk", dim);
    NVF_NODE_CHECK(
        !k->is_const() || k->is_const_int(1), arg, "topk: k of a 0-dim tensor must be 1, but got ",
        k->to_inline_string());
    return {set(arg), zero_position()};
  }
  dim = wrap_dim(arg, dim);
  const Val* size = axes.at(static_cast<size_t>(dim))->maybe_expanded_extent();
  if (k->is_const()) {
    const int64_t count = as_int(k->value());
    NVF_NODE_CHECK(
        count >= 0 && (!size->is_const_int() || count <= as_int(size->value())), arg,
        "topk: k = ", count, " is out of range for a dimension of size ", size->to_inline_string());
  }
  Val* extent = as_extent(k);
  TensorView* values = new_tensor(cut_to(arg, dim, extent), arg->dtype());
  TensorView* indices = new_tensor(cut_to(arg, dim, extent), DataType::Int);
  fusion.make<TopKOp>(
      {.values = values,
       .indices = indices,
       .arg = arg,
       .k = k,
       .dim = dim,
       .largest = largest,
       .sorted = sorted});
  return {values, indices};
}

TensorView* argsort(TensorView* arg, int64_t dim, bool descending, bool stable) {
  Fusion& fusion = fusion_for({arg});
  check_not_complex("argsort", arg);
  if (shape_axes(arg).empty()) {
    check_only_axis("argsort", dim);
    return zero_position();
  }
  dim = wrap_dim(arg, dim);
  IterDomains axes = copy_axes(shape_axes(arg));
  if (IterDomain*& sorted = axes[static_cast<size_t>(dim)]; sorted->has_expanded_extent()) {
    sorted = fusion.new_iter_domain(sorted->expanded_extent()); // equal elements, other positions
  }
  TensorView* out = new_tensor(axes, DataType::Int);
  fusion.make<ArgsortOp>(
      {.out = out, .arg = arg, .dim = dim, .descending = descending, .stable = stable});
  return out;
}

} // namespace nvfuser::ops
