// Expressions that read or write where the value of another tensor says.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct SelectOpFields {
  static constexpr const char* kDoc =
      "The slice of arg at one position of a dimension, without that dimension.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  Val* index = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &SelectOpFields::out, "Result."),
        input("arg", &SelectOpFields::arg, "Operand."),
        input(
            "index", &SelectOpFields::index,
            "The position: an integer scalar, or a tensor of no dimensions. Not negative."),
        attr("dim", &SelectOpFields::dim, "Dimension of arg."),
    };
  }
};
struct SelectOp final : ExprNode<SelectOp, SelectOpFields> {};

struct IndexSelectOpFields {
  static constexpr const char* kDoc = "out[.., i, ..] = arg[.., index[i], ..].";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  TensorView* index = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &IndexSelectOpFields::out, "Result."),
        input("arg", &IndexSelectOpFields::arg, "Where elements are looked up."),
        input(
            "index", &IndexSelectOpFields::index,
            "Integers in [0, extent of dim): as many dimensions as arg, all but dim broadcasts."),
        attr("dim", &IndexSelectOpFields::dim, "Dimension of arg that is looked up."),
    };
  }
};
struct IndexSelectOp final : ExprNode<IndexSelectOp, IndexSelectOpFields> {};

struct GatherOpFields {
  static constexpr const char* kDoc =
      "out[i, j] = arg[index[i, j], j], for dim 0: the shape of the result is that of index.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  TensorView* index = nullptr;
  int64_t dim = 0;
  bool exact_sizes = false;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &GatherOpFields::out, "Result."),
        input("arg", &GatherOpFields::arg, "Where elements are looked up."),
        input(
            "index", &GatherOpFields::index, "Integers in [0, extent of dim), of the rank of arg."),
        attr("dim", &GatherOpFields::dim, "Dimension of arg that is looked up."),
        attr(
            "exact_sizes", &GatherOpFields::exact_sizes,
            "Whether all other dimensions of index have the extents of arg. Otherwise they may be "
            "smaller."),
    };
  }
};
struct GatherOp final : ExprNode<GatherOp, GatherOpFields> {};

struct ScatterOpFields {
  static constexpr const char* kDoc =
      "A copy of arg in which out[index[i, j], j] = src[i, j], for dim 0. With accumulate the "
      "element is combined with what was there; without, which of several writers of an element "
      "wins is not defined.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  TensorView* index = nullptr;
  Val* src = nullptr;
  int64_t dim = 0;
  bool exact_sizes = false;
  bool accumulate = false;
  BinaryOpType accumulate_op = BinaryOpType::Add;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &ScatterOpFields::out, "Result."),
        input("arg", &ScatterOpFields::arg, "Elements that index leaves alone."),
        input("index", &ScatterOpFields::index, "Integers in [0, extent of dim)."),
        input(
            "src", &ScatterOpFields::src,
            "Elements to write: a tensor of the rank of index, or a scalar."),
        attr("dim", &ScatterOpFields::dim, "Dimension of arg that is addressed."),
        attr(
            "exact_sizes", &ScatterOpFields::exact_sizes,
            "Whether all other dimensions of index have the extents of arg."),
        attr("accumulate", &ScatterOpFields::accumulate, "Whether elements are combined."),
        attr(
            "accumulate_op", &ScatterOpFields::accumulate_op,
            "The combiner; has no meaning without accumulate."),
    };
  }
};
struct ScatterOp final : ExprNode<ScatterOp, ScatterOpFields> {};

struct IndexPutAccumulateOpFields {
  static constexpr const char* kDoc = "A copy of arg with value[i, ..] added to row index[i].";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  TensorView* index = nullptr;
  TensorView* value = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &IndexPutAccumulateOpFields::out, "Result."),
        input("arg", &IndexPutAccumulateOpFields::arg, "The tensor that is added to, [rows, ..]."),
        input("index", &IndexPutAccumulateOpFields::index, "Row numbers, [n] or [n, 1]."),
        input("value", &IndexPutAccumulateOpFields::value, "Addends, [n, ..]."),
    };
  }
};
struct IndexPutAccumulateOp final : ExprNode<IndexPutAccumulateOp, IndexPutAccumulateOpFields> {};

struct EmbeddingFwdOpFields {
  static constexpr const char* kDoc = "Rows of weight: out[.., :] = weight[arg[..], :].";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  TensorView* weight = nullptr;
  Val* norm_type = nullptr;
  Val* scale_grad_by_freq = nullptr;
  Val* sparse = nullptr;
  Val* padding_idx = nullptr;
  Val* max_norm = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &EmbeddingFwdOpFields::out, "Result."),
        input("arg", &EmbeddingFwdOpFields::arg, "Row numbers."),
        input("weight", &EmbeddingFwdOpFields::weight, "The table, [rows, columns]."),
        input(
            "norm_type", &EmbeddingFwdOpFields::norm_type,
            "The p of the norm that max_norm bounds."),
        input(
            "scale_grad_by_freq", &EmbeddingFwdOpFields::scale_grad_by_freq,
            "For the backward pass only."),
        input("sparse", &EmbeddingFwdOpFields::sparse, "For the backward pass only."),
        input(
            "padding_idx", &EmbeddingFwdOpFields::padding_idx,
            "Row that gets no gradient; None: no row.")
            .or_none(),
        input(
            "max_norm", &EmbeddingFwdOpFields::max_norm,
            "Rows of a larger norm are scaled down to it; None: none are.")
            .or_none(),
    };
  }
};
struct EmbeddingFwdOp final : ExprNode<EmbeddingFwdOp, EmbeddingFwdOpFields> {};

} // namespace nvfuser
