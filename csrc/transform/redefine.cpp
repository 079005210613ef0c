#include "transform/redefine.h"

#include <algorithm>

#include "ir/all_nodes.h"
#include "ir/scalar.h"
#include "ops/index.h"
#include "ops/operands.h"
#include "ops/reduce.h"
#include "ops/resize.h"
#include "ops/scan.h"
#include "ops/search.h"
#include "ops/variance.h"

namespace nvfuser {
namespace {

using Results = std::vector<TensorView*>;

/// The dimensions of the operand that `out` has reduced.
std::vector<int64_t> reduced_dims(const TensorView* out) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < out->logical().size(); ++i) {
    if (out->logical()[i]->is_reduction()) {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  return dims;
}

Results redefine_welford(const WelfordOp& op) {
  const bool reads_elements =
      op.in_avg->is_tensor() && !op.in_var->is_tensor() && !op.in_n->is_tensor();
  if (!reads_elements) {
    return {};
  }
  const auto parts = ops::welford_of_squeezed(
      static_cast<TensorView*>(op.in_avg), reduced_dims(static_cast<TensorView*>(op.out_avg)));
  return {parts.avg, parts.var_sum, parts.n};
}

/// Dimensions that are whole stay whole, whichever value their size is by now.
TensorView* slice_with_units(const SliceOp& op, const std::vector<bool>& units) {
  Fusion& fusion = *op.out->fusion();
  std::vector<Val*> starts = op.starts;
  std::vector<Val*> stops = op.stops;
  for (size_t i = 0; i < units.size(); ++i) {
    if (units[i]) {
      stops[i] = scalar::add(starts[i], fusion.one());
    } else if (op.out->maybe_root()[i] == op.out->logical()[i]) {
      starts[i] = fusion.zero();
      stops[i] = op.arg->size(static_cast<int64_t>(i));
    }
  }
  return ops::slice(
      op.arg, starts, stops, op.steps, /*manual_normalization=*/true, /*clip_ends=*/false);
}

Results pad_with_units(const PadOp& op, const std::vector<bool>& units) {
  std::vector<Val*> widths; // the call has the innermost dimension first
  for (size_t i = units.size(); i-- > 0;) {
    Val* left = op.widths[2 * i];
    Val* right = op.widths[2 * i + 1];
    if (units[i]) {
      right = scalar::sub(
          scalar::sub(op.out->fusion()->one(), left), op.arg->size(static_cast<int64_t>(i)));
    }
    widths.insert(widths.end(), {left, right});
  }
  if (std::ranges::all_of(widths, &Val::is_zero)) { // a copy, which a cat does not take as padded
    return {};
  }
  return {ops::pad(op.arg, widths, op.value)};
}

/// The sizes that a tensor is created with; none: it is not created of sizes.
std::vector<Val*> sizes_to_create(const Expr& expr) {
  if (const auto* full = expr.as<FullOp>()) {
    return full->shape;
  }
  if (const auto* draw = expr.as<RNGOp>()) {
    return draw->shape;
  }
  if (const auto* iota = expr.as<IotaOp>()) {
    return {iota->length};
  }
  const auto* eye = expr.as<EyeOp>();
  return eye == nullptr ? std::vector<Val*>() : std::vector<Val*>{eye->rows, eye->columns};
}

} // namespace

void create_units(Expr& expr, const std::vector<bool>& units) {
  Fusion& fusion = *expr.fusion();
  for (size_t i = 0; i < sizes_to_create(expr).size(); ++i) {
    Val* size = sizes_to_create(expr)[i];
    if (units.at(i) && !size->is_const()) { // whatever else the expression takes it for, it is 1
      fusion.replace_uses(size, fusion.new_constant(int64_t{1}, size->dtype()), {&expr});
    }
  }
}

std::vector<TensorView*> redefine_with_units(const Expr& expr, const std::vector<bool>& units) {
  if (const auto* slice = expr.as<SliceOp>()) {
    return {slice_with_units(*slice, units)};
  }
  if (const auto* pad = expr.as<PadOp>()) {
    return pad_with_units(*pad, units);
  }
  if (const auto* op = expr.as<TopKOp>()) {
    Val* one = op->arg->fusion()->new_constant(int64_t{1}, op->k->dtype());
    const ops::TopK parts = ops::topk(op->arg, one, op->dim, op->largest, op->sorted);
    return {parts.values, parts.indices};
  }
  return {};
}

std::vector<TensorView*> redefine(const Expr& expr) {
  return visit(
      expr,
      overloaded{
          [](const ReductionOp& op) -> Results {
            return {ops::reduce_axes(
                op.op, static_cast<TensorView*>(op.arg),
                reduced_dims(static_cast<TensorView*>(op.out)), /*keepdim=*/false, op.init)};
          },
          [](const WelfordOp& op) { return redefine_welford(op); },
          [](const ScanOp& op) -> Results { return {ops::scan(op.arg, op.dim, op.op, op.init)}; },
          [](const ArgsortOp& op) -> Results {
            return {ops::argsort(op.arg, op.dim, op.descending, op.stable)};
          },
          [](const TopKOp& op) -> Results {
            const ops::TopK parts = ops::topk(op.arg, op.k, op.dim, op.largest, op.sorted);
            return {parts.values, parts.indices};
          },
          [](const GatherOp& op) -> Results {
            return {
                op.exact_sizes ? ops::take_along_axis(op.arg, op.index, op.dim)
                               : ops::gather(op.arg, op.index, op.dim)};
          },
          [](const ScatterOp& op) -> Results {
            return {ops::scatter(
                op.arg, op.index, op.src, op.dim,
                op.accumulate ? std::optional(op.accumulate_op) : std::nullopt)};
          },
          [](const IndexPutAccumulateOp& op) -> Results {
            return {ops::index_put_accumulate(op.arg, op.index, op.value)};
          },
          [](const Expr&) -> Results { return {}; },
      });
}

} // namespace nvfuser
