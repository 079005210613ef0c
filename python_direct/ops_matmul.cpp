// Products of matrices and attention.
#include "op_binding.h"
#include "ops/attention.h"
#include "ops/matmul.h"

namespace nvfuser::python {
namespace {

using Scaled = std::tuple<TensorView*, TensorView*, TensorView*>;

Scaled tuple_of(const ops::ScaledResult& result) {
  return {result.out, result.block_scale, result.gamma};
}

constexpr const char* kEpilogueDoc = R"(alpha : TensorView, optional
    Factor of the product.
bias, beta : TensorView, optional
    Addend and its factor.
dtype : DataType
    Type of the result.
output_block_scale_size : int
    Elements that share a scale of the result; 0: no such scales.
output_block_scale_dtype : DataType
    Type of these scales.
output_gamma : bool
    Whether a scale of the whole result is made as well.

Returns
-------
out, block_scale, gamma : TensorView
    The last two are None unless asked for.
)";

/// A function's documentation that ends in what is told beside the factors.
std::string with_epilogue_doc(const char* factors) {
  std::string doc = factors;
  doc += kEpilogueDoc;
  return doc;
}

void bind_products(OpModule& m) {
  m.def(
      "matmul", &ops::matmul, "arg1"_a, "arg2"_a,
      R"(Product of matrices, as `torch.matmul`.

Parameters
----------
arg1 : TensorView
    [.., M, K] or [K].
arg2 : TensorView
    [.., K, N] or [K], of the same dtype. Leading dimensions are broadcast together.

Returns
-------
TensorView
    [.., M, N] in the dtype of the operands; vectors' dimensions are left out.
)");
  m.def(
      "linear", &ops::linear, "arg1"_a, "arg2"_a, "bias"_a = nb::none(),
      R"(arg1 times the transpose of arg2, plus bias, as `torch.nn.functional.linear`.

Parameters
----------
arg1 : TensorView
    [*_i, K].
arg2 : TensorView
    [*_w, N, K]; *_w is for dimensions of devices.
bias : TensorView, optional
    [*_w, N].

Returns
-------
TensorView
    [*_w, *_i, N].
)");
  constexpr const char* sum_doc =
      R"(sum(a * b) as one expression, for tensor cores; summed in Float if a is of lower precision.

Parameters
----------
a, b : TensorView
    Factors of one rank, and of one dtype or both of fp8.
dims : list[int]
    Dimensions that are summed; negative values count from the end.
)";
  for (const char* name : {"fused_multiply_sum", "fusedMultiplySum"}) {
    m.def(name, &ops::fused_multiply_sum, "a"_a, "b"_a, "dims"_a, sum_doc);
  }
}

void bind_grouped_products(OpModule& m) {
  m.def(
      "grouped_mm", nb::overload_cast<TensorView*, TensorView*, TensorView*>(&ops::grouped_mm),
      "mat1"_a, "mat2"_a, "offsets"_a,
      R"(A product for each group.

Parameters
----------
mat1, mat2 : TensorView
    Of ranks 2 and 2: groups divide K and the result is [g, m, n]; 3 and 2: they divide the columns
    of [m, n]; 2 and 3: they divide its rows.
offsets : TensorView
    [g], integers: where each group ends.

Returns
-------
TensorView
    In the dtype of mat1.
)");
  m.def(
      "grouped_mm",
      [](TensorView* mat1, TensorView* mat2, TensorView* offsets, TensorView* scale1,
         TensorView* scale2, TensorView* alpha, TensorView* bias, TensorView* beta, DataType dtype,
         int64_t block_scale_size, DataType block_scale_dtype, bool has_gamma) {
        return tuple_of(
            ops::grouped_mm(
                mat1, mat2, offsets, scale1, scale2,
                {alpha, bias, beta, dtype, block_scale_size, block_scale_dtype, has_gamma}));
      },
      "mat1"_a, "mat2"_a, "offsets"_a, "scale1"_a.none(), "scale2"_a.none(), "alpha"_a = nb::none(),
      "bias"_a = nb::none(), "beta"_a = nb::none(), "dtype"_a = DataType::BFloat16,
      "output_block_scale_size"_a = 0, "output_block_scale_dtype"_a = DataType::BFloat16,
      "output_gamma"_a = false,
      with_epilogue_doc(R"(A product for each group, of scaled factors.

Parameters
----------
mat1, mat2, offsets : TensorView
    As in the short form.
scale1, scale2 : TensorView
    Scales of the factors, of the rank of the factor or of the result, whichever is larger; both or
    None.
)")
          .c_str());
  m.def(
      "scaled_mm",
      [](TensorView* mat1, TensorView* mat2, TensorView* scale1, TensorView* scale2,
         TensorView* alpha, TensorView* bias, TensorView* beta, DataType dtype,
         int64_t block_scale_size, DataType block_scale_dtype, bool has_gamma) {
        return tuple_of(
            ops::scaled_mm(
                mat1, mat2, scale1, scale2,
                {alpha, bias, beta, dtype, block_scale_size, block_scale_dtype, has_gamma}));
      },
      "mat1"_a, "mat2"_a, "scale1"_a, "scale2"_a, "alpha"_a = nb::none(), "bias"_a = nb::none(),
      "beta"_a = nb::none(), "dtype"_a = DataType::BFloat16, "output_block_scale_size"_a = 0,
      "output_block_scale_dtype"_a = DataType::BFloat16, "output_gamma"_a = false,
      with_epilogue_doc(R"(Product of quantized matrices with scales.

Parameters
----------
mat1 : TensorView
    [m, k].
mat2 : TensorView
    [k, n].
scale1, scale2 : TensorView
    Of dtype Float: one for the matrix, each row (column), or each block along k, row-major. If of
    an fp8 dtype: one for each block along k, in tiles of 128 x 4.
)")
          .c_str());
  m.def(
      "cutlass_nvfp4_grouped_mm",
      [](TensorView* mat1, TensorView* mat2, TensorView* scale1, TensorView* scale2,
         TensorView* alpha, TensorView* problem_sizes, TensorView* expert_offsets,
         TensorView* sf_offsets, DataType dtype) {
        return ops::cutlass_nvfp4_grouped_mm(
            {mat1, mat2, scale1, scale2, alpha, problem_sizes, expert_offsets, sf_offsets}, dtype);
      },
      "mat1"_a.none(), "mat2"_a.none(), "scale1"_a.none(), "scale2"_a.none(), "alpha"_a.none(),
      "problem_sizes"_a.none(), "expert_offsets"_a.none(), "sf_offsets"_a.none(),
      "dtype"_a = DataType::BFloat16,
      R"(A product of fp4 factors for each group (the experts of a mixture).

Parameters
----------
mat1 : TensorView
    [m, k], rows of all groups.
mat2 : TensorView
    [g, k, n].
scale1, scale2 : TensorView
    e4m3 scales for blocks of 16 along k, in tiles of 128 x 4: [rows, k / 16] and [g, n, k / 16].
alpha : TensorView
    [g]: factor of each product.
problem_sizes : TensorView
    [g, 3]: m, n, k of each group.
expert_offsets, sf_offsets : TensorView
    [g]: first row of each group in mat1, and of its scales in scale1.
dtype : DataType
    Type of the result.

Returns
-------
TensorView
    [m, n].
)");
}

void bind_attention(OpModule& m) {
  m.def(
      "sdpfa_fwd",
      [](TensorView* query, TensorView* key, TensorView* value, TensorView* bias, TensorView* mask,
         const ScalarArg& dropout_p, const ScalarArg& is_causal, const ScalarArg& scale) {
        Val* dropout = dropout_p.val();
        Val* causal = is_causal.flag();
        const ops::SdpaFwdResult r =
            ops::sdpfa_fwd(query, key, value, bias, mask, dropout, causal, scale.val());
        return std::tuple{r.output, r.logsumexp, r.philox_seed, r.philox_offset};
      },
      "query"_a, "key"_a, "value"_a, "bias"_a = nb::none(), "mask"_a = nb::none(),
      "dropout_p"_a = nb::none(), "is_causal"_a = nb::none(), "scale"_a = nb::none(),
      R"(Scaled dot product attention: softmax(query key^T * scale + bias) value.

Parameters
----------
query, key, value : TensorView
    [N.., H, L, E], [N.., H, S, E] and [N.., H, S, Ev] of one dtype.
bias : TensorView, optional
    Added to the products; broadcast to [N.., H, L, S].
mask : TensorView, optional
    Bool, broadcast to [N.., H, L, S]: where it is False a product has no part.
dropout_p : scalar, optional
    Probability that a weight is dropped; 0 by default.
is_causal : scalar, optional
    Whether row i sees columns up to i only; False by default.
scale : scalar, optional
    1 / sqrt(E) by default.

Returns
-------
output, logsumexp, philox_seed, philox_offset : TensorView
    [N.., H, L, Ev] in the dtype of query; [N.., H, L] in Float; [2] and [] in UInt64.
)");
  m.def(
      "sdpfa_bwd",
      [](TensorView* grad_output, TensorView* query, TensorView* key, TensorView* value,
         TensorView* output, TensorView* logsumexp, const ScalarArg& dropout_p,
         const ScalarArg& is_causal, TensorView* philox_seed, TensorView* philox_offset,
         const ScalarArg& scale) {
        Val* dropout = dropout_p.val();
        Val* causal = is_causal.flag();
        const ops::SdpaBwdResult r = ops::sdpfa_bwd(
            {grad_output, query, key, value, output, logsumexp, dropout, causal, philox_seed,
             philox_offset, scale.val()});
        return std::tuple{r.grad_query, r.grad_key, r.grad_value};
      },
      "grad_output"_a, "query"_a, "key"_a, "value"_a, "output"_a, "logsumexp"_a,
      "dropout_p"_a.none(), "is_causal"_a.none(), "philox_seed"_a, "philox_offset"_a,
      "scale"_a.none(),
      R"(Gradients of `sdpfa_fwd`.

Parameters
----------
grad_output : TensorView
    Gradient of `output`.
query, key, value, output, logsumexp, philox_seed, philox_offset : TensorView
    Operands and results of the forward pass, of 4 or 5 dimensions.
dropout_p, is_causal, scale : scalar or None
    As in the forward pass.

Returns
-------
grad_query, grad_key, grad_value : TensorView
    In the shapes and the dtype of query, key and value.
)");
}

} // namespace

void bind_matmul_ops(OpModule& m) {
  bind_products(m);
  bind_grouped_products(m);
  bind_attention(m);
}

} // namespace nvfuser::python
