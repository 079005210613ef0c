#include "ops/composite_backward.h"

#include <numbers>
#include <numeric>

#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/composite_nn.h"
#include "ops/composite_norm.h"
#include "ops/operands.h"
#include "ops/reduce.h"
#include "ops/shape.h"
#include "ops/unary.h"

namespace nvfuser::ops {

namespace {

/// The parts of a normalization's gradient with respect to its input. `reduced` are the dimensions
/// that statistics were taken over; the result of the forward pass before weight and bias is
/// x_hat = (x - mean) * invstd.
TensorView* input_gradient(
    TensorView* grad_x_hat,
    TensorView* x_hat,
    TensorView* invstd,
    const std::vector<int64_t>& reduced,
    bool depends_on_mean) {
  Val* count = reduced_count(x_hat, reduced);
  TensorView* projection = div(sum(mul(grad_x_hat, x_hat), reduced, /*keepdim=*/true), count);
  TensorView* inner = sub(grad_x_hat, mul(x_hat, projection));
  if (depends_on_mean) {
    inner = sub(inner, div(sum(grad_x_hat, reduced, /*keepdim=*/true), count));
  }
  return mul(inner, invstd);
}

/// The gradient of a parameter that has the last dimensions of `tv` only: its sum over the first
/// `num_outer`.
TensorView* summed_over_outer(TensorView* tv, int64_t num_outer) {
  if (num_outer == 0) {
    return tv;
  }
  std::vector<int64_t> dims(static_cast<size_t>(num_outer));
  std::iota(dims.begin(), dims.end(), 0);
  return sum(tv, dims);
}

NormGradients channel_norm_backward(
    TensorView* dy,
    TensorView* x,
    TensorView* weight,
    TensorView* mean,
    TensorView* invstd,
    bool uses_input,
    const ChannelDims& dims) {
  fusion_for({dy, x, mean, invstd});
  const std::vector<bool>& of_channel = dims.restores_channel;
  std::vector<bool> of_stats = of_channel;
  of_stats.front() = mean->rank() < 2; // [N, C] has the batch already
  std::vector<int64_t> all_but_channel;
  for (size_t dim = 0; dim < of_channel.size(); ++dim) {
    if (of_channel[dim]) {
      all_but_channel.push_back(static_cast<int64_t>(dim));
    }
  }
  TensorView* grad = widened(dy);
  TensorView* scale = broadcast(widened(invstd), of_stats);
  TensorView* x_hat = mul(sub(widened(x), broadcast(widened(mean), of_stats)), scale);
  TensorView* grad_x_hat =
      weight == nullptr ? grad : mul(grad, broadcast(widened(weight), of_channel));
  NormGradients result;
  result.input =
      uses_input ? input_gradient(grad_x_hat, x_hat, scale, dims.reduced, /*depends_on_mean=*/true)
                 : mul(grad_x_hat, scale);
  if (weight != nullptr) {
    result.weight = sum(mul(grad, x_hat), all_but_channel);
  }
  result.bias = sum(grad, all_but_channel);
  return result;
}

} // namespace

TensorView* gelu_backward(TensorView* dy, TensorView* x) {
  fusion_for({dy, x});
  TensorView* operand = widened(x);
  TensorView* cdf =
      mul(number(0.5), add(number(1.0), erf(mul(operand, number(std::numbers::sqrt2 / 2)))));
  const double factor = std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2; // 1 / sqrt(2 pi)
  TensorView* density = mul(number(factor), exp(mul(number(-0.5), mul(operand, operand))));
  return mul(widened(dy), add(cdf, mul(operand, density)));
}

TensorView* tanh_gelu_backward(TensorView* dy, TensorView* x) {
  fusion_for({dy, x});
  constexpr double kCubic = 0.044715;
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi; // sqrt(2 / pi)
  TensorView* operand = widened(x);
  TensorView* square = mul(operand, operand);
  TensorView* inner = mul(number(scale), add(operand, mul(number(kCubic), mul(square, operand))));
  TensorView* tanh_inner = tanh(inner);
  TensorView* slope = mul(number(scale), add(number(1.0), mul(number(3 * kCubic), square)));
  TensorView* left = mul(number(0.5), add(number(1.0), tanh_inner));
  TensorView* sech2 = sub(number(1.0), mul(tanh_inner, tanh_inner));
  TensorView* right = mul(mul(mul(number(0.5), operand), sech2), slope);
  return mul(widened(dy), add(left, right));
}

TensorView* tanh_backward(TensorView* dy, TensorView* tanh_x) {
  fusion_for({dy, tanh_x});
  TensorView* y = widened(tanh_x);
  return mul(widened(dy), sub(number(1.0), mul(y, y)));
}

TensorView* softmax_backward(TensorView* dy, TensorView* y, int64_t dim) {
  fusion_for({dy, y});
  TensorView* product = mul(widened(dy), widened(y));
  return sub(product, mul(widened(y), sum(product, {dim}, /*keepdim=*/true)));
}

TensorView* log_softmax_backward(TensorView* dy, TensorView* y, int64_t dim) {
  fusion_for({dy, y});
  TensorView* grad = widened(dy);
  return sub(grad, mul(exp(widened(y)), sum(grad, {dim}, /*keepdim=*/true)));
}

NormGradients layer_norm_backward(
    TensorView* dy,
    TensorView* x,
    int64_t num_norm_dims,
    TensorView* mean,
    TensorView* invstd,
    TensorView* weight,
    bool has_bias) {
  fusion_for({dy, x, mean, invstd});
  const std::vector<int64_t> reduced = normalized_dims(x, num_norm_dims);
  const int64_t num_outer = reduced.front();
  TensorView* grad = widened(dy);
  TensorView* x_hat = mul(sub(widened(x), mean), invstd);
  TensorView* grad_x_hat = weight == nullptr ? grad : mul(grad, widened(weight));
  NormGradients result;
  result.input = input_gradient(grad_x_hat, x_hat, invstd, reduced, /*depends_on_mean=*/true);
  if (weight != nullptr) {
    result.weight = summed_over_outer(mul(grad, x_hat), num_outer);
  }
  if (has_bias) {
    result.bias = num_outer == 0 ? set(grad) : summed_over_outer(grad, num_outer);
  }
  return result;
}

NormGradients rms_norm_backward(
    TensorView* dy, TensorView* x, int64_t num_norm_dims, TensorView* invstd, TensorView* weight) {
  fusion_for({dy, x, invstd});
  const std::vector<int64_t> reduced = normalized_dims(x, num_norm_dims);
  TensorView* grad = widened(dy);
  TensorView* x_hat = mul(widened(x), invstd);
  TensorView* grad_x_hat = weight == nullptr ? grad : mul(grad, widened(weight));
  NormGradients result;
  result.input = input_gradient(grad_x_hat, x_hat, invstd, reduced, /*depends_on_mean=*/false);
  if (weight != nullptr) {
    result.weight = summed_over_outer(mul(grad, x_hat), reduced.front());
  }
  return result;
}

NormGradients batch_norm_backward(
    TensorView* dy,
    TensorView* x,
    TensorView* weight,
    TensorView* mean,
    TensorView* invstd,
    bool training,
    bool channels_last) {
  fusion_for({x});
  const ChannelDims dims =
      channel_dims(x, channels_last, /*keeps_batch=*/false, "batch_norm_backward");
  return channel_norm_backward(dy, x, weight, mean, invstd, training, dims);
}

NormGradients instance_norm_backward(
    TensorView* dy,
    TensorView* x,
    TensorView* weight,
    TensorView* mean,
    TensorView* invstd,
    bool use_input_stats,
    bool channels_last) {
  fusion_for({x});
  const ChannelDims dims =
      channel_dims(x, channels_last, /*keeps_batch=*/true, "instance_norm_backward");
  return channel_norm_backward(dy, x, weight, mean, invstd, use_input_stats, dims);
}

} // namespace nvfuser::ops
