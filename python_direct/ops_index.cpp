// Operations that read or write where the elements of another tensor say.
#include "op_binding.h"
#include "ops/index.h"

namespace nvfuser::python {
namespace {

void bind_reads(OpModule& m) {
  m.def(
      "select",
      [](TensorView* arg, TensorView* index, int64_t dim) { return ops::select(arg, index, dim); },
      "arg"_a, "index"_a, "dim"_a);
  m.def(
      "select",
      [](TensorView* arg, const ScalarArg& index, int64_t dim) {
        return ops::select(arg, index.require(), dim);
      },
      "arg"_a, "index"_a, "dim"_a,
      R"(The slice at one position of a dimension, without that dimension.

Parameters
----------
arg : TensorView
    Operand [.., N, ..].
index : Val, int or TensorView
    Position in [0, N), of an integer type, or a float that is cast to Index; a tensor has no
    dimensions. Negative positions are not wrapped.
dim : int
    Dimension of `arg`; negative values count from the end.

Returns
-------
TensorView
    [.., ..], dtype of `arg`.

Raises
------
UserError
    For an operand without dimensions.
)");
  m.def(
      "index_select", &ops::index_select, "arg"_a, "index"_a, "dim"_a,
      R"(Slices at several positions of a dimension: ``out[.., i, ..] = arg[.., index[i], ..]``.

Parameters
----------
arg : TensorView
    Where elements are looked up, [.., N, ..].
index : TensorView
    Positions in [0, N), of an integer type, or floats that are cast to Index: [n], or the rank of
    `arg` with broadcasts beside `dim`, or no dimensions. Negative positions are not wrapped. A kernel takes the nearest element for a
    position out of range; the evaluator raises.
dim : int
    Dimension of `arg`; negative values count from the end.

Returns
-------
TensorView
    [.., n, ..], dtype of `arg`.

Raises
------
UserError
    For an operand without dimensions, or positions of another shape.
)");
  m.def(
      "gather", &ops::gather, "arg"_a, "index"_a, "dim"_a,
      R"(Elements at positions of one dimension: ``out[i, j] = arg[index[i, j], j]`` for dim 0.

Parameters
----------
arg : TensorView
    Where elements are looked up, [.., N, ..].
index : TensorView
    Positions in [0, N), of an integer type, or floats that are cast to Index. It has the rank of
    `arg`; its other dimensions are at most as large as those of `arg`. Negative positions are not wrapped. A kernel takes the nearest
    element for a position out of range; the evaluator raises.
dim : int
    Dimension of `arg`; negative values count from the end.

Returns
-------
TensorView
    The shape of `index`, dtype of `arg`.

Raises
------
UserError
    For different ranks, or a dimension out of range.
)");
  m.def(
      "take_along_axis", &ops::take_along_axis, "arg"_a, "index"_a, "dim"_a,
      R"(As `gather`, where all other dimensions agree or are broadcast together.

Parameters
----------
arg : TensorView
    Where elements are looked up, [.., N, ..].
index : TensorView
    Positions in [0, N), of an integer type, or floats that are cast to Index; the rank of `arg`.
dim : int
    Dimension of `arg`; negative values count from the end.

Returns
-------
TensorView
    The extent of `index` in `dim`, the common shape elsewhere; dtype of `arg`.

Raises
------
UserError
    For different ranks, sizes that do not agree, or a dimension out of range.
)");
}

void bind_writes(OpModule& m) {
  m.def(
      "scatter",
      [](TensorView* arg, TensorView* index, TensorView* src, int64_t dim,
         std::optional<BinaryOpType> accumulate_op) {
        return ops::scatter(arg, index, src, dim, accumulate_op);
      },
      "arg"_a, "index"_a, "src"_a, "dim"_a, "accumulate_op"_a = nb::none());
  m.def(
      "scatter",
      [](TensorView* arg, TensorView* index, const ScalarArg& src, int64_t dim,
         std::optional<BinaryOpType> accumulate_op) {
        return ops::scatter(arg, index, src.require(), dim, accumulate_op);
      },
      "arg"_a, "index"_a, "src"_a, "dim"_a, "accumulate_op"_a = nb::none(),
      R"(A copy in which some elements are written: ``out[index[i, j], j] = src[i, j]`` for dim 0.

Parameters
----------
arg : TensorView
    Elements that `index` leaves alone, [.., N, ..].
index : TensorView
    Positions in [0, N), of an integer type, or floats that are cast to Index. It has the rank of
    `arg`; its other dimensions are at most as large as those of `arg`. Negative positions are not wrapped. A kernel writes nothing for a
    position out of range; the evaluator raises.
src : TensorView, Val or number
    What is written, converted to the dtype of `arg`: a tensor of that rank whose dimensions are at
    least those of `index`, or a scalar.
dim : int
    Dimension of `arg`; negative values count from the end.
accumulate_op : BinaryOpType, optional
    Combine elements with what was there: ``Add``, ``Mul``, ``Max`` or ``Min``. Evaluated; it has no
    kernel form. Without, the winner among several writers of one element is not defined.

Returns
-------
TensorView
    Shape and dtype of `arg`.

Raises
------
UserError
    For different ranks, or a dimension out of range.
)");
  const char* accumulate_doc = R"(A copy with rows added: ``out[index[i], ..] += value[i, ..]``.

Evaluated; it has no kernel form.

Parameters
----------
arg : TensorView
    What is added to, [rows, ..].
index : TensorView
    Row numbers in [0, rows), of an integer type, or floats that are cast to Index: [n] or [n, 1].
value : TensorView
    Addends, [n, ..].

Returns
-------
TensorView
    Shape and dtype of `arg`.

Raises
------
UserError
    For other ranks.
)";
  for (const char* name : {"index_put_accumulate", "indexPutAccumulate"}) {
    m.def(name, &ops::index_put_accumulate, "arg"_a, "index"_a, "value"_a, accumulate_doc);
  }
}

void bind_embedding(OpModule& m) {
  m.def(
      "embedding_fwd",
      [](TensorView* input, TensorView* weight, const ScalarArg& padding_idx,
         const ScalarArg& max_norm, const ScalarArg& norm_type, const ScalarArg& scale_grad_by_freq,
         const ScalarArg& sparse) {
        ops::EmbeddingOptions options;
        options.padding_idx = padding_idx.val();
        options.max_norm = max_norm.val();
        options.norm_type = norm_type.val();
        options.scale_grad_by_freq = scale_grad_by_freq.flag();
        options.sparse = sparse.flag();
        return ops::embedding_fwd(input, weight, options);
      },
      "input"_a, "weight"_a, "padding_idx"_a = nb::none(), "max_norm"_a = nb::none(),
      "norm_type"_a = nb::none(), "scale_grad_by_freq"_a = nb::none(), "sparse"_a = nb::none(),
      R"(Rows of a table: ``out[.., :] = weight[input[..], :]``.

Evaluated; it has no kernel form. See ``torch.nn.functional.embedding`` for the options.

Parameters
----------
input : TensorView
    Row numbers, of an integer type, or floats that are cast to Index; at least one dimension.
weight : TensorView
    The table, [rows, columns].
padding_idx : Val or int, optional
    Row that gets no gradient.
max_norm : Val or float, optional
    Rows of a larger norm are scaled down to it, in `weight` too.
norm_type : Val or float, optional
    The p of that norm; 2.
scale_grad_by_freq, sparse : Val or bool, optional
    For the backward pass; False.

Returns
-------
TensorView
    [.., columns], dtype of `weight`.

Raises
------
UserError
    ``Expected input to be atleast 1D``, ``Expected weight to be 2D``.
)");
}

} // namespace

void bind_index_ops(OpModule& m) {
  bind_reads(m);
  bind_writes(m);
  bind_embedding(m);
}

} // namespace nvfuser::python
