#include "ops/composite_norm.h"

#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/operands.h"
#include "ops/reduce.h"
#include "ops/shape.h"
#include "ops/unary.h"
#include "ops/variance.h"

namespace nvfuser::ops {

namespace {

/// (1 - momentum) * old + momentum * new, written into `old`.
void update(TensorView* old, TensorView* observed, Val* momentum) {
  NVF_NODE_CHECK(momentum != nullptr, old, "Running statistics need a momentum");
  TensorView* kept = mul(widened(old), static_cast<Val*>(sub(number(1.0), momentum)));
  TensorView* updated = add(kept, mul(observed, momentum));
  Fusion::active().add_output(maybe_cast(updated, old->dtype()), old);
}

/// var of n elements, from the biased one: var * n / (n - 1).
TensorView* unbiased(TensorView* var, const TensorView* x, const std::vector<int64_t>& dims) {
  Val* count = reduced_count(x, dims);
  return mul(var, static_cast<Val*>(div(count, sub(count, number(1.0)))));
}

BatchNorm normalize(
    TensorView* x,
    TensorView* weight,
    TensorView* bias,
    const RunningStatistics& running,
    bool uses_input,
    Val* eps,
    const ChannelDims& dims,
    bool keeps_batch) {
  fusion_for({x, eps});
  NVF_NODE_CHECK(
      (running.mean == nullptr) == (running.var == nullptr), x,
      "Running statistics are a mean and a variance: give both or neither");
  TensorView* operand = widened(x);
  BatchNorm result;
  TensorView* output = nullptr;
  if (uses_input) {
    const VarMean moments = ops::moments(operand, dims.reduced, /*correction=*/0, /*keepdim=*/true);
    TensorView* invstd = rsqrt(add(moments.var, eps));
    output = mul(sub(operand, moments.mean), invstd);
    result.mean = squeeze(moments.mean, dims.reduced);
    result.invstd = squeeze(invstd, dims.reduced);
    if (running.mean != nullptr) {
      TensorView* observed = result.mean;
      TensorView* var = squeeze(unbiased(moments.var, operand, dims.reduced), dims.reduced);
      if (keeps_batch) { // [N, C]: the mean over instances
        observed = mean(observed, {0});
        var = mean(var, {0});
      }
      update(running.mean, observed, running.momentum);
      update(running.var, var, running.momentum);
    }
  } else {
    NVF_NODE_CHECK(
        running.mean != nullptr, x, "Without statistics of the input, running ones are required");
    TensorView* invstd = rsqrt(add(widened(running.var), eps));
    output =
        mul(sub(operand, broadcast(widened(running.mean), dims.restores_channel)),
            broadcast(invstd, dims.restores_channel));
  }
  if (weight != nullptr) {
    output = mul(output, broadcast(weight, dims.restores_channel));
  }
  if (bias != nullptr) {
    output = add(output, broadcast(bias, dims.restores_channel));
  }
  result.output = output;
  return result;
}

} // namespace

ChannelDims channel_dims(
    const TensorView* x, bool channels_last, bool keeps_batch, const char* op) {
  const int64_t rank = x->rank();
  NVF_NODE_CHECK(rank >= (keeps_batch ? 3 : 2), x, op, " expects [N, C, ..], but got rank ", rank);
  const int64_t channel = channels_last ? rank - 1 : 1;
  ChannelDims dims;
  for (int64_t dim = 0; dim < rank; ++dim) {
    dims.restores_channel.push_back(dim != channel);
    if (dim != channel && (dim != 0 || !keeps_batch)) {
      dims.reduced.push_back(dim);
    }
  }
  return dims;
}

BatchNorm batch_norm(
    TensorView* x,
    TensorView* weight,
    TensorView* bias,
    const RunningStatistics& running,
    bool training,
    Val* eps,
    bool channels_last) {
  const ChannelDims dims = channel_dims(x, channels_last, /*keeps_batch=*/false, "batch_norm");
  return normalize(x, weight, bias, running, training, eps, dims, /*keeps_batch=*/false);
}

BatchNorm instance_norm(
    TensorView* x,
    TensorView* weight,
    TensorView* bias,
    const RunningStatistics& running,
    bool use_input_stats,
    Val* eps,
    bool channels_last) {
  const ChannelDims dims = channel_dims(x, channels_last, /*keeps_batch=*/true, "instance_norm");
  return normalize(x, weight, bias, running, use_input_stats, eps, dims, /*keeps_batch=*/true);
}

} // namespace nvfuser::ops
