// Operations that are made of others.
#include "op_binding.h"
#include "ops/composite.h"
#include "ops/composite_nn.h"
#include "ops/floor_divide.h"

namespace nvfuser::python {
namespace {

void bind_elementary(OpModule& m) {
  bind_all_mixes<1>(
      m, "sign", [](Val* x) { return ops::sign(x); },
      operation_doc("1, 0 or -1, in the dtype of x.", {"x"}));
  bind_all_mixes<2>(
      m, "floor_divide", &ops::floor_divide,
      operation_doc("a / b rounded down; integers stay integers.", {"a", "b"}));
  m.def(
      "triu",
      [](TensorView* arg, const ScalarArg& diagonal) { return ops::triu(arg, diagonal.require()); },
      "arg"_a, "diagonal"_a = 0,
      R"(The upper triangle of the last two dimensions, zeros below.

Parameters
----------
arg : TensorView
    Operand [.., M, N].
diagonal : scalar Val or int
    An element stays where column >= row + diagonal.
)");
}

void bind_activations(OpModule& m) {
  m.def(
      "softplus",
      [](TensorView* x, const ScalarArg& beta, const ScalarArg& threshold) {
        Val* slope = beta.require();
        return ops::softplus(x, slope, threshold.require());
      },
      "x"_a, "beta"_a = 1.0, "threshold"_a = 20.0,
      R"(log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.

Parameters
----------
x : TensorView
    Operand.
beta, threshold : scalar Val or number
    See above.
)");
  m.def("gelu", &ops::gelu, "x"_a, "x times the normal distribution function of x, with erf.");
  m.def("tanh_gelu", &ops::tanh_gelu, "x"_a, "As `gelu`, approximated with tanh.");
  m.def(
      "leaky_relu",
      [](TensorView* x, const ScalarArg& negative_slope) {
        return ops::leaky_relu(x, negative_slope.require());
      },
      "x"_a, "negative_slope"_a = 0.01,
      R"(x where it is not negative, negative_slope * x elsewhere.

Parameters
----------
x : TensorView
    Operand.
negative_slope : scalar Val or number
    See above.
)");
}

void bind_normalizations(OpModule& m) {
  m.def(
      "softmax", &ops::softmax, "x"_a, "dim"_a,
      R"(exp(x) over its sum along a dimension.

Parameters
----------
x : TensorView
    Operand.
dim : int
    Dimension; negative values count from the end.
)");
  m.def("log_softmax", &ops::log_softmax, "x"_a, "dim"_a, "Logarithm of `softmax`.");
  m.def(
      "layer_norm",
      [](TensorView* x, int64_t num_norm_dims, TensorView* weight, TensorView* bias,
         const ScalarArg& eps) {
        const ops::LayerNorm result =
            ops::layer_norm(x, num_norm_dims, weight, bias, eps.require());
        return std::tuple{result.output, result.mean, result.invstd};
      },
      "x"_a, "num_norm_dims"_a, "weight"_a = nb::none(), "bias"_a = nb::none(), "eps"_a = 1e-5,
      R"((x - mean) / sqrt(var + eps) * weight + bias over the last dimensions.

Parameters
----------
x : TensorView
    Operand.
num_norm_dims : int
    How many of the last dimensions are normalized.
weight, bias : TensorView or None
    Of these dimensions.
eps : scalar Val or float
    See above.

Returns
-------
output, mean, invstd : TensorView
    In `mean` and `invstd` the normalized dimensions have size 1.
)");
  m.def(
      "rms_norm",
      [](TensorView* x, int64_t num_norm_dims, TensorView* weight, const ScalarArg& eps) {
        const ops::RmsNorm result = ops::rms_norm(x, num_norm_dims, weight, eps.require());
        return std::pair{result.output, result.invstd};
      },
      "x"_a, "num_norm_dims"_a, "weight"_a = nb::none(), "eps"_a = 1e-5,
      R"(x / sqrt(mean(x * x) + eps) * weight over the last dimensions.

Parameters
----------
x : TensorView
    Operand.
num_norm_dims : int
    How many of the last dimensions are normalized.
weight : TensorView or None
    Of these dimensions.
eps : scalar Val or float
    See above.

Returns
-------
output, invstd : TensorView
    In `invstd` the normalized dimensions have size 1.
)");
}

} // namespace

void bind_composite_ops(OpModule& m) {
  bind_elementary(m);
  bind_activations(m);
  bind_normalizations(m);
}

} // namespace nvfuser::python
