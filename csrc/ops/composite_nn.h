// Layers of neural networks, made of other operations.
// Low-precision operands are computed in Float, and the results are Float: nothing casts back.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.
TensorView* softplus(TensorView* x, Val* beta, Val* threshold);
/// x times the normal distribution function of x, with erf.
TensorView* gelu(TensorView* x);
/// The same, approximated with tanh.
TensorView* tanh_gelu(TensorView* x);
/// x where it is not negative, negative_slope * x elsewhere.
TensorView* leaky_relu(TensorView* x, Val* negative_slope);

/// exp(x) over its sum along `dim`.
TensorView* softmax(TensorView* x, int64_t dim);
TensorView* log_softmax(TensorView* x, int64_t dim);

struct Dropout {
  TensorView* output = nullptr;
  TensorView* mask = nullptr; // Bool: elements that are kept
};
/// x with elements set to zero with probability `p`, the others multiplied by 1 / (1 - p).
Dropout dropout(TensorView* x, Val* p);
/// dy * mask * scale, with scale = 1 / (1 - p).
TensorView* dropout_backward(TensorView* dy, TensorView* mask, Val* scale);

struct Lstm {
  TensorView* cell = nullptr;
  TensorView* hidden = nullptr;
};
/// One step of a long short-term memory (Hochreiter and Schmidhuber 1997), from the cell before and
/// the four gates' inputs.
Lstm lstm(
    TensorView* previous_cell,
    TensorView* in_x,
    TensorView* forget_x,
    TensorView* cell_x,
    TensorView* out_x);

/// The last `count` dimensions of x, those that a layer normalizes over.
[[nodiscard]] std::vector<int64_t> normalized_dims(const TensorView* x, int64_t count);

struct LayerNorm {
  TensorView* output = nullptr;
  TensorView* mean = nullptr;   // reduced dimensions have size one
  TensorView* invstd = nullptr; // likewise
};
/// (x - mean) / sqrt(var + eps) * weight + bias over the last `num_norm_dims` dimensions. `weight`
/// and `bias` have these dimensions; either may be nullptr.
LayerNorm layer_norm(
    TensorView* x, int64_t num_norm_dims, TensorView* weight, TensorView* bias, Val* eps);

struct RmsNorm {
  TensorView* output = nullptr;
  TensorView* invstd = nullptr; // reduced dimensions have size one
};
/// x / sqrt(mean(x * x) + eps) * weight over the last `num_norm_dims` dimensions.
RmsNorm rms_norm(TensorView* x, int64_t num_norm_dims, TensorView* weight, Val* eps);

} // namespace nvfuser::ops
