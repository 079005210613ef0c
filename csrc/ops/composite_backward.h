// Gradients of the layers, from the gradient `dy` of their result.
// Low-precision operands are computed in Float, and the results are Float: nothing casts back.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

TensorView* gelu_backward(TensorView* dy, TensorView* x);
TensorView* tanh_gelu_backward(TensorView* dy, TensorView* x);
/// `tanh_x` is the result of the forward pass.
TensorView* tanh_backward(TensorView* dy, TensorView* tanh_x);

/// `y` is the result of the forward pass.
TensorView* softmax_backward(TensorView* dy, TensorView* y, int64_t dim);
TensorView* log_softmax_backward(TensorView* dy, TensorView* y, int64_t dim);

/// Gradients of a normalization; nullptr where the parameter is.
struct NormGradients {
  TensorView* input = nullptr;
  TensorView* weight = nullptr;
  TensorView* bias = nullptr;
};

/// `mean` and `invstd` are those of the forward pass. Gradients of weight and bias have their
/// shapes, the last `num_norm_dims` dimensions; that of bias is made if `has_bias`.
NormGradients layer_norm_backward(
    TensorView* dy,
    TensorView* x,
    int64_t num_norm_dims,
    TensorView* mean,
    TensorView* invstd,
    TensorView* weight,
    bool has_bias);
NormGradients rms_norm_backward(
    TensorView* dy, TensorView* x, int64_t num_norm_dims, TensorView* invstd, TensorView* weight);

/// `mean` and `invstd` [C] are what the forward pass used: of the batch in training, else the
/// running ones, which do not depend on x.
NormGradients batch_norm_backward(
    TensorView* dy,
    TensorView* x,
    TensorView* weight,
    TensorView* mean,
    TensorView* invstd,
    bool training,
    bool channels_last = false);
/// `mean` and `invstd` are [N, C], or [C] for running ones.
NormGradients instance_norm_backward(
    TensorView* dy,
    TensorView* x,
    TensorView* weight,
    TensorView* mean,
    TensorView* invstd,
    bool use_input_stats,
    bool channels_last = false);

} // namespace nvfuser::ops
