#include "ops/composite_nn.h"

#include <numbers>
#include <numeric>

#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/operands.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "ops/ternary.h"
#include "ops/unary.h"
#include "ops/variance.h"

namespace nvfuser::ops {

namespace {

/// x minus its greatest element along `dim`: exp of it does not overflow.
TensorView* shifted_by_max(TensorView* x, int64_t dim) {
  return sub(x, max(x, {dim}, /*keepdim=*/true));
}

} // namespace

TensorView* softplus(TensorView* x, Val* beta, Val* threshold) {
  fusion_for({x, beta, threshold});
  TensorView* scaled = mul(x, beta);
  TensorView* smooth = div(log1p(exp(scaled)), beta);
  return static_cast<TensorView*>(where(gt(scaled, threshold), x, smooth));
}

TensorView* gelu(TensorView* x) {
  fusion_for({x});
  TensorView* cdf =
      mul(number(0.5), add(number(1.0), erf(mul(x, number(std::numbers::sqrt2 / 2)))));
  return mul(x, cdf);
}

TensorView* tanh_gelu(TensorView* x) {
  fusion_for({x});
  TensorView* cubic = mul(number(0.044715), mul(mul(x, x), x));
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi; // sqrt(2 / pi)
  TensorView* inner = mul(number(scale), add(x, cubic));
  return mul(mul(x, number(0.5)), add(number(1.0), tanh(inner)));
}

TensorView* leaky_relu(TensorView* x, Val* negative_slope) {
  fusion_for({x, negative_slope});
  return static_cast<TensorView*>(where(ge(x, number(0.0)), x, mul(x, negative_slope)));
}

TensorView* softmax(TensorView* x, int64_t dim) {
  fusion_for({x});
  TensorView* exponentials = exp(shifted_by_max(widened(x), dim));
  return div(exponentials, sum(exponentials, {dim}, /*keepdim=*/true));
}

TensorView* log_softmax(TensorView* x, int64_t dim) {
  fusion_for({x});
  TensorView* shifted = shifted_by_max(widened(x), dim);
  return sub(shifted, log(sum(exp(shifted), {dim}, /*keepdim=*/true)));
}

Dropout dropout(TensorView* x, Val* p) {
  fusion_for({x, p});
  TensorView* operand = widened(x);
  Val* kept = sub(number(1.0), p);
  // Nothing is kept for p = 1: 0 * 1, not 0 / 0.
  Val* scale = where(eq(kept, number(0.0)), number(1.0), reciprocal(kept));
  auto* mask = static_cast<TensorView*>(lt(rand_like(operand), kept));
  return {.output = mul(mul(operand, mask), scale), .mask = mask};
}

TensorView* dropout_backward(TensorView* dy, TensorView* mask, Val* scale) {
  fusion_for({dy, mask, scale});
  return mul(mul(widened(dy), mask), scale);
}

Lstm lstm(
    TensorView* previous_cell,
    TensorView* in_x,
    TensorView* forget_x,
    TensorView* cell_x,
    TensorView* out_x) {
  fusion_for({previous_cell, in_x, forget_x, cell_x, out_x});
  TensorView* kept = mul(sigmoid(forget_x), previous_cell);
  TensorView* cell = add(kept, mul(sigmoid(in_x), tanh(cell_x)));
  return {.cell = cell, .hidden = mul(sigmoid(out_x), tanh(cell))};
}

std::vector<int64_t> normalized_dims(const TensorView* x, int64_t count) {
  NVF_NODE_CHECK(
      count >= 1 && count <= x->rank(), x, "The number of normalized dimensions must be in [1, ",
      x->rank(), "], but got ", count);
  std::vector<int64_t> dims(static_cast<size_t>(count));
  std::iota(dims.begin(), dims.end(), x->rank() - count);
  return dims;
}

LayerNorm layer_norm(
    TensorView* x, int64_t num_norm_dims, TensorView* weight, TensorView* bias, Val* eps) {
  fusion_for({x, eps});
  TensorView* operand = widened(x);
  const VarMean moments =
      ops::moments(operand, normalized_dims(x, num_norm_dims), /*correction=*/0, /*keepdim=*/true);
  TensorView* invstd = rsqrt(add(moments.var, eps));
  TensorView* output = mul(sub(operand, moments.mean), invstd);
  if (weight != nullptr) {
    output = mul(output, weight);
  }
  if (bias != nullptr) {
    output = add(output, bias);
  }
  return {.output = output, .mean = moments.mean, .invstd = invstd};
}

RmsNorm rms_norm(TensorView* x, int64_t num_norm_dims, TensorView* weight, Val* eps) {
  fusion_for({x, eps});
  TensorView* operand = widened(x);
  TensorView* mean_square =
      mean(mul(operand, operand), normalized_dims(x, num_norm_dims), /*keepdim=*/true);
  TensorView* invstd = rsqrt(add(mean_square, eps));
  TensorView* output = mul(operand, invstd);
  if (weight != nullptr) {
    output = mul(output, weight);
  }
  return {.output = output, .invstd = invstd};
}

} // namespace nvfuser::ops
