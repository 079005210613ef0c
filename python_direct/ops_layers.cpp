// Layers with state, and the gradients of layers.
#include "op_binding.h"
#include "ops/composite_backward.h"
#include "ops/composite_nn.h"
#include "ops/composite_norm.h"

namespace nvfuser::python {
namespace {

using Gradients = std::tuple<TensorView*, TensorView*, TensorView*>;

Gradients tuple_of(const ops::NormGradients& result) {
  return {result.input, result.weight, result.bias};
}

void bind_random_layers(OpModule& m) {
  m.def(
      "dropout",
      [](TensorView* x, const ScalarArg& p) {
        const ops::Dropout result = ops::dropout(x, p.require());
        return std::pair{result.output, result.mask};
      },
      "x"_a, "p"_a,
      R"(Set elements to zero with probability p, and multiply the others by 1 / (1 - p).

Parameters
----------
x : TensorView
    Operand.
p : scalar Val or float
    Probability, in [0, 1].

Returns
-------
output, mask : TensorView
    `mask` is Bool: elements that are kept. Seed and offset come from the framework's generator.
)");
  m.def(
      "dropout_backward",
      [](TensorView* dy, TensorView* mask, const ScalarArg& scale) {
        return ops::dropout_backward(dy, mask, scale.require());
      },
      "dy"_a, "mask"_a, "scale"_a,
      R"(Gradient of `dropout`: dy * mask * scale.

Parameters
----------
dy : TensorView
    Gradient of the output.
mask : TensorView
    Of the forward pass.
scale : scalar Val or float
    1 / (1 - p).
)");
  m.def(
      "lstm",
      [](TensorView* previous_cell, TensorView* in_x, TensorView* forget_x, TensorView* cell_x,
         TensorView* out_x) {
        const ops::Lstm result = ops::lstm(previous_cell, in_x, forget_x, cell_x, out_x);
        return std::pair{result.cell, result.hidden};
      },
      "previous_cell"_a, "in_x"_a, "forget_x"_a, "cell_x"_a, "out_x"_a,
      R"(One step of a long short-term memory (Hochreiter and Schmidhuber 1997).

Parameters
----------
previous_cell : TensorView
    State before the step.
in_x, forget_x, cell_x, out_x : TensorView
    What goes into the gates, in the shape of the state.

Returns
-------
cell, hidden : TensorView
    State after the step, and its output.
)");
}

constexpr const char* kChannelNormDoc = R"(
Parameters
----------
x : TensorView
    [N, C, ..], with `channels_last` [N, .., C].
weight, bias : TensorView or None
    [C].
running_mean, running_var : TensorView or None
    [C], inputs of the fusion. With statistics of the input they are updated in place:
    (1 - momentum) * old + momentum * new, the variance without bias.
training : bool
    Whether statistics are those of the input; otherwise the running ones.
momentum : scalar Val or float
    See above.
eps : scalar Val or float
    Added to the variance.
channels_last : bool
    Where the channels are.

Returns
-------
output, mean, invstd : TensorView
    The last two are None without statistics of the input.
)";

template <typename Fn>
void bind_channel_norm(OpModule& m, const char* name, Fn fn, const char* summary) {
  const std::string doc = std::string(summary) + kChannelNormDoc;
  m.def(
      name,
      [fn](
          TensorView* x, TensorView* weight, TensorView* bias, TensorView* running_mean,
          TensorView* running_var, bool training, const ScalarArg& momentum, const ScalarArg& eps,
          bool channels_last) {
        Val* old_weight = momentum.val();
        const ops::BatchNorm result =
            fn(x, weight, bias, ops::RunningStatistics{running_mean, running_var, old_weight},
               training, eps.require(), channels_last);
        return std::tuple{result.output, result.mean, result.invstd};
      },
      "x"_a, "weight"_a = nb::none(), "bias"_a = nb::none(), "running_mean"_a = nb::none(),
      "running_var"_a = nb::none(), "training"_a = true, "momentum"_a = 0.1, "eps"_a = 1e-5,
      "channels_last"_a = false, doc.c_str());
}

constexpr const char* kChannelNormBackwardDoc = R"(
Parameters
----------
dy : TensorView
    Gradient of the output, in the shape of x.
x : TensorView
    Operand of the forward pass.
weight : TensorView or None
    [C].
mean, invstd : TensorView
    Statistics that the forward pass used.
training : bool
    Whether they are those of the input.
channels_last : bool
    Where the channels are.

Returns
-------
grad_input, grad_weight, grad_bias : TensorView
    The shape of x, [C] (None without weight) and [C].
)";

template <typename Fn>
void bind_channel_norm_backward(OpModule& m, const char* name, Fn fn, const char* summary) {
  const std::string doc = std::string(summary) + kChannelNormBackwardDoc;
  m.def(
      name,
      [fn](
          TensorView* dy, TensorView* x, TensorView* weight, TensorView* mean, TensorView* invstd,
          bool training, bool channels_last) {
        return tuple_of(fn(dy, x, weight, mean, invstd, training, channels_last));
      },
      "dy"_a, "x"_a, "weight"_a.none(), "mean"_a, "invstd"_a, "training"_a = true,
      "channels_last"_a = false, doc.c_str());
}

void bind_channel_norms(OpModule& m) {
  bind_channel_norm(
      m, "batch_norm", &ops::batch_norm,
      "(x - mean) / sqrt(var + eps) * weight + bias, with statistics of each channel.\n");
  bind_channel_norm(
      m, "instance_norm", &ops::instance_norm,
      "`batch_norm` with statistics of each channel of each instance; mean and invstd are "
      "[N, C].\n");
  bind_channel_norm_backward(
      m, "batch_norm_backward", &ops::batch_norm_backward, "Gradients of `batch_norm`.\n");
  bind_channel_norm_backward(
      m, "instance_norm_backward", &ops::instance_norm_backward, "Gradients of `instance_norm`.\n");
}

void bind_norm_gradients(OpModule& m) {
  m.def(
      "layer_norm_backward",
      [](TensorView* dy, TensorView* x, int64_t num_norm_dims, TensorView* mean, TensorView* invstd,
         TensorView* weight, bool has_bias) {
        return tuple_of(
            ops::layer_norm_backward(dy, x, num_norm_dims, mean, invstd, weight, has_bias));
      },
      "dy"_a, "x"_a, "num_norm_dims"_a, "mean"_a, "invstd"_a, "weight"_a = nb::none(),
      "has_bias"_a = true,
      R"(Gradients of `layer_norm`.

Parameters
----------
dy : TensorView
    Gradient of the output, in the shape of x.
x : TensorView
    Operand of the forward pass.
num_norm_dims : int
    How many of the last dimensions were normalized.
mean, invstd : TensorView
    Of the forward pass; the normalized dimensions have size 1.
weight : TensorView or None
    Of the normalized dimensions.
has_bias : bool
    Whether there was a bias.

Returns
-------
grad_input, grad_weight, grad_bias : TensorView
    None for a parameter that is not there.
)");
  m.def(
      "rms_norm_backward",
      [](TensorView* dy, TensorView* x, int64_t num_norm_dims, TensorView* invstd,
         TensorView* weight) {
        const ops::NormGradients result =
            ops::rms_norm_backward(dy, x, num_norm_dims, invstd, weight);
        return std::pair{result.input, result.weight};
      },
      "dy"_a, "x"_a, "num_norm_dims"_a, "invstd"_a, "weight"_a = nb::none(),
      R"(Gradients of `rms_norm`.

Parameters
----------
dy : TensorView
    Gradient of the output, in the shape of x.
x : TensorView
    Operand of the forward pass.
num_norm_dims : int
    How many of the last dimensions were normalized.
invstd : TensorView
    Of the forward pass; the normalized dimensions have size 1.
weight : TensorView or None
    Of the normalized dimensions.

Returns
-------
grad_input, grad_weight : TensorView
    The latter None without weight.
)");
}

void bind_elementwise_gradients(OpModule& m) {
  m.def(
      "gelu_backward", &ops::gelu_backward, "dy"_a, "x"_a,
      "Gradient of `gelu` at x, times dy, the gradient of its result.");
  m.def(
      "tanh_gelu_backward", &ops::tanh_gelu_backward, "dy"_a, "x"_a,
      "Gradient of `tanh_gelu` at x, times dy, the gradient of its result.");
  m.def(
      "tanh_backward", &ops::tanh_backward, "dy"_a, "tanh_x"_a,
      "dy * (1 - tanh_x * tanh_x): gradient of `tanh` from its result.");
  m.def(
      "softmax_backward", &ops::softmax_backward, "dy"_a, "y"_a, "dim"_a,
      "Gradient of `softmax` along `dim` from its result y and the gradient dy of y.");
  m.def(
      "log_softmax_backward", &ops::log_softmax_backward, "dy"_a, "y"_a, "dim"_a,
      "Gradient of `log_softmax` along `dim` from its result y and the gradient dy of y.");
}

} // namespace

void bind_layer_ops(OpModule& m) {
  bind_random_layers(m);
  bind_channel_norms(m);
  bind_norm_gradients(m);
  bind_elementwise_gradients(m);
}

} // namespace nvfuser::python
