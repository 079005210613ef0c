#include "ops/composite_backward.h"

#include <numbers>
#include <numeric>

#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/operands.h"
#include "ops/reduce.h"
#include "ops/shape.h"
#include "ops/unary.h"

namespace nvfuser::ops {

namespace {

std::vector<int64_t> range(int64_t begin, int64_t end) {
  std::vector<int64_t> dims(static_cast<size_t>(end - begin));
  std::iota(dims.begin(), dims.end(), begin);
  return dims;
}

/// The parts of a normalization's gradient with respect to its input. `reduced` are the dimensions
/// that statistics were taken over; the result of the forward pass before weight and bias is
/// x_hat = (x - mean) * invstd.
TensorView* input_gradient(
    TensorView* grad_x_hat,
    TensorView* x_hat,
    TensorView* invstd,
    const std::vector<int64_t>& reduced,
    bool depends_on_mean) {
  Val* count = number(1.0);
  for (const int64_t dim : reduced) {
    count = mul(count, x_hat->size(dim));
  }
  TensorView* projection = div(sum(mul(grad_x_hat, x_hat), reduced, /*keepdim=*/true), count);
  TensorView* inner = sub(grad_x_hat, mul(x_hat, projection));
  if (depends_on_mean) {
    inner = sub(inner, div(sum(grad_x_hat, reduced, /*keepdim=*/true), count));
  }
  return mul(inner, invstd);
}

int64_t checked_norm_dims(const TensorView* x, int64_t count) {
  NVF_USER_CHECK(
      count >= 1 && count <= x->rank(), "The number of normalized dimensions must be in [1, ",
      x->rank(), "], but got ", count);
  return x->rank() - count;
}

/// Flags of a broadcast of [C] (or [N, C]) to the rank of x.
std::vector<bool> flags_around(const TensorView* x, int64_t channel, bool has_batch) {
  std::vector<bool> flags(static_cast<size_t>(x->rank()), true);
  flags.at(static_cast<size_t>(channel)) = false;
  flags.front() = !has_batch;
  return flags;
}

NormGradients channel_norm_backward(
    TensorView* dy,
    TensorView* x,
    TensorView* weight,
    TensorView* mean,
    TensorView* invstd,
    bool uses_input,
    bool channels_last,
    bool keeps_batch) {
  fusion_for({dy, x, mean, invstd});
  const int64_t channel = channels_last ? x->rank() - 1 : 1;
  const std::vector<bool> of_channel = flags_around(x, channel, /*has_batch=*/false);
  const std::vector<bool> of_stats = flags_around(x, channel, mean->rank() == 2);
  std::vector<int64_t> all_but_channel;
  std::vector<int64_t> reduced;
  for (int64_t dim = 0; dim < x->rank(); ++dim) {
    if (dim != channel) {
      all_but_channel.push_back(dim);
      if (dim != 0 || !keeps_batch) {
        reduced.push_back(dim);
      }
    }
  }
  TensorView* grad = widened(dy);
  TensorView* scale = broadcast(widened(invstd), of_stats);
  TensorView* x_hat = mul(sub(widened(x), broadcast(widened(mean), of_stats)), scale);
  TensorView* grad_x_hat =
      weight == nullptr ? grad : mul(grad, broadcast(widened(weight), of_channel));
  NormGradients result;
  result.input = uses_input
                     ? input_gradient(grad_x_hat, x_hat, scale, reduced, /*depends_on_mean=*/true)
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
  const int64_t num_outer = checked_norm_dims(x, num_norm_dims);
  TensorView* grad = widened(dy);
  TensorView* x_hat = mul(sub(widened(x), mean), invstd);
  TensorView* grad_x_hat = weight == nullptr ? grad : mul(grad, widened(weight));
  NormGradients result;
  result.input = input_gradient(
      grad_x_hat, x_hat, invstd, range(num_outer, x->rank()), /*depends_on_mean=*/true);
  const auto over_outer = [&](TensorView* tv) {
    return num_outer == 0 ? tv : sum(tv, range(0, num_outer));
  };
  if (weight != nullptr) {
    result.weight = over_outer(mul(grad, x_hat));
  }
  if (has_bias) {
    result.bias = num_outer == 0 ? static_cast<TensorView*>(set(grad)) : over_outer(grad);
  }
  return result;
}

NormGradients rms_norm_backward(
    TensorView* dy, TensorView* x, int64_t num_norm_dims, TensorView* invstd, TensorView* weight) {
  fusion_for({dy, x, invstd});
  const int64_t num_outer = checked_norm_dims(x, num_norm_dims);
  TensorView* grad = widened(dy);
  TensorView* x_hat = mul(widened(x), invstd);
  TensorView* grad_x_hat = weight == nullptr ? grad : mul(grad, widened(weight));
  NormGradients result;
  result.input = input_gradient(
      grad_x_hat, x_hat, invstd, range(num_outer, x->rank()), /*depends_on_mean=*/false);
  if (weight != nullptr) {
    TensorView* product = mul(grad, x_hat);
    result.weight = num_outer == 0 ? product : sum(product, range(0, num_outer));
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
  return channel_norm_backward(
      dy, x, weight, mean, invstd, training, channels_last, /*keeps_batch=*/false);
}

NormGradients instance_norm_backward(
    TensorView* dy,
    TensorView* x,
    TensorView* weight,
    TensorView* mean,
    TensorView* invstd,
    bool use_input_stats,
    bool channels_last) {
  return channel_norm_backward(
      dy, x, weight, mean, invstd, use_input_stats, channels_last, /*keeps_batch=*/true);
}

} // namespace nvfuser::ops
