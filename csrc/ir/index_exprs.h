// Expressions that read or write where the value of another tensor says.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct SelectOp final : ExprNode<SelectOp> {
  static constexpr ExprKind kKind = ExprKind::SelectOp;
  static constexpr const char* kName = "SelectOp";
  static constexpr const char* kDoc =
      "The slice of arg at one position of a dimension, without that dimension.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  Val* index = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &SelectOp::out, "Result."),
        nvfuser::input("arg", &SelectOp::arg, "Operand."),
        nvfuser::input(
            "index", &SelectOp::index,
            "The position: an integer scalar, or a tensor of no dimensions. Not negative."),
        nvfuser::attr("dim", &SelectOp::dim, "Dimension of arg."),
    };
  }
};

struct IndexSelectOp final : ExprNode<IndexSelectOp> {
  static constexpr ExprKind kKind = ExprKind::IndexSelectOp;
  static constexpr const char* kName = "IndexSelectOp";
  static constexpr const char* kDoc = "out[.., i, ..] = arg[.., index[i], ..].";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  TensorView* index = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &IndexSelectOp::out, "Result."),
        nvfuser::input("arg", &IndexSelectOp::arg, "Where elements are looked up."),
        nvfuser::input(
            "index", &IndexSelectOp::index,
            "Integers in [0, extent of dim): as many dimensions as arg, all but dim broadcasts."),
        nvfuser::attr("dim", &IndexSelectOp::dim, "Dimension of arg that is looked up."),
    };
  }
};

struct GatherOp final : ExprNode<GatherOp> {
  static constexpr ExprKind kKind = ExprKind::GatherOp;
  static constexpr const char* kName = "GatherOp";
  static constexpr const char* kDoc =
      "out[i, j] = arg[index[i, j], j], for dim 0: the shape of the result is that of index.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  TensorView* index = nullptr;
  int64_t dim = 0;
  bool exact_sizes = false;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &GatherOp::out, "Result."),
        nvfuser::input("arg", &GatherOp::arg, "Where elements are looked up."),
        nvfuser::input(
            "index", &GatherOp::index, "Integers in [0, extent of dim), of the rank of arg."),
        nvfuser::attr("dim", &GatherOp::dim, "Dimension of arg that is looked up."),
        nvfuser::attr(
            "exact_sizes", &GatherOp::exact_sizes,
            "Whether all other dimensions of index have the extents of arg. Otherwise they may be "
            "smaller."),
    };
  }
};

struct ScatterOp final : ExprNode<ScatterOp> {
  static constexpr ExprKind kKind = ExprKind::ScatterOp;
  static constexpr const char* kName = "ScatterOp";
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
        nvfuser::output("out", &ScatterOp::out, "Result."),
        nvfuser::input("arg", &ScatterOp::arg, "Elements that index leaves alone."),
        nvfuser::input("index", &ScatterOp::index, "Integers in [0, extent of dim)."),
        nvfuser::input(
            "src", &ScatterOp::src,
            "Elements to write: a tensor of the rank of index, or a scalar."),
        nvfuser::attr("dim", &ScatterOp::dim, "Dimension of arg that is addressed."),
        nvfuser::attr(
            "exact_sizes", &ScatterOp::exact_sizes,
            "Whether all other dimensions of index have the extents of arg."),
        nvfuser::attr("accumulate", &ScatterOp::accumulate, "Whether elements are combined."),
        nvfuser::attr(
            "accumulate_op", &ScatterOp::accumulate_op,
            "The combiner; has no meaning without accumulate."),
    };
  }
};

struct IndexPutAccumulateOp final : ExprNode<IndexPutAccumulateOp> {
  static constexpr ExprKind kKind = ExprKind::IndexPutAccumulateOp;
  static constexpr const char* kName = "IndexPutAccumulateOp";
  static constexpr const char* kDoc = "A copy of arg with value[i, ..] added to row index[i].";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  TensorView* index = nullptr;
  TensorView* value = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &IndexPutAccumulateOp::out, "Result."),
        nvfuser::input("arg", &IndexPutAccumulateOp::arg, "What is added to, [rows, ..]."),
        nvfuser::input("index", &IndexPutAccumulateOp::index, "Row numbers, [n] or [n, 1]."),
        nvfuser::input("value", &IndexPutAccumulateOp::value, "Addends, [n, ..]."),
    };
  }
};

struct EmbeddingFwdOp final : ExprNode<EmbeddingFwdOp> {
  static constexpr ExprKind kKind = ExprKind::EmbeddingFwdOp;
  static constexpr const char* kName = "EmbeddingFwdOp";
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
        nvfuser::output("out", &EmbeddingFwdOp::out, "Result."),
        nvfuser::input("arg", &EmbeddingFwdOp::arg, "Row numbers."),
        nvfuser::input("weight", &EmbeddingFwdOp::weight, "The table, [rows, columns]."),
        nvfuser::input(
            "norm_type", &EmbeddingFwdOp::norm_type, "The p of the norm that max_norm bounds."),
        nvfuser::input(
            "scale_grad_by_freq", &EmbeddingFwdOp::scale_grad_by_freq,
            "For the backward pass only."),
        nvfuser::input("sparse", &EmbeddingFwdOp::sparse, "For the backward pass only."),
        nvfuser::input(
            "padding_idx", &EmbeddingFwdOp::padding_idx,
            "Row that gets no gradient; None: no row."),
        nvfuser::input(
            "max_norm", &EmbeddingFwdOp::max_norm,
            "Rows of a larger norm are scaled down to it; None: none are."),
    };
  }
};

} // namespace nvfuser
