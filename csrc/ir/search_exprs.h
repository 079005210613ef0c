// Expressions whose elements depend on all elements along one dimension.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct ScanOp final : ExprNode<ScanOp> {
  static constexpr ExprKind kKind = ExprKind::ScanOp;
  static constexpr const char* kName = "ScanOp";
  static constexpr const char* kDoc = "out[i] = op(init, arg[0], .., arg[i]) along dim.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  Val* init = nullptr;
  BinaryOpType op = BinaryOpType::Add;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &ScanOp::out, "Result."),
        nvfuser::input("arg", &ScanOp::arg, "Operand."),
        nvfuser::attr(
            "init", &ScanOp::init,
            "Identity of op, or the value that everything is combined with."),
        nvfuser::attr("op", &ScanOp::op, "Associative combiner."),
        nvfuser::attr("dim", &ScanOp::dim, "Dimension along which is combined."),
    };
  }
};

struct TopKOp final : ExprNode<TopKOp> {
  static constexpr ExprKind kKind = ExprKind::TopKOp;
  static constexpr const char* kName = "TopKOp";
  static constexpr const char* kDoc =
      "The k largest (or smallest) elements along a dimension, and where they were.";
  TensorView* values = nullptr;
  TensorView* indices = nullptr;
  TensorView* arg = nullptr;
  Val* k = nullptr;
  int64_t dim = 0;
  bool largest = false;
  bool sorted = false;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output(
            "values", &TopKOp::values, "The elements. A Resize leads from the extent of arg to k."),
        nvfuser::output("indices", &TopKOp::indices, "Their positions in arg, dtype Int."),
        nvfuser::input("arg", &TopKOp::arg, "Operand."),
        nvfuser::input("k", &TopKOp::k, "How many."),
        nvfuser::attr("dim", &TopKOp::dim, "Dimension."),
        nvfuser::attr("largest", &TopKOp::largest, "Whether the largest are taken."),
        nvfuser::attr(
            "sorted", &TopKOp::sorted,
            "Whether they come in order; if not, the order is not defined."),
    };
  }
};

struct ArgsortOp final : ExprNode<ArgsortOp> {
  static constexpr ExprKind kKind = ExprKind::ArgsortOp;
  static constexpr const char* kName = "ArgsortOp";
  static constexpr const char* kDoc = "The positions that bring arg into order along a dimension.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  int64_t dim = 0;
  bool descending = false;
  bool stable = false;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &ArgsortOp::out, "Positions in arg, dtype Int."),
        nvfuser::input("arg", &ArgsortOp::arg, "Operand."),
        nvfuser::attr("dim", &ArgsortOp::dim, "Dimension."),
        nvfuser::attr("descending", &ArgsortOp::descending, "Whether the largest comes first."),
        nvfuser::attr("stable", &ArgsortOp::stable, "Whether equal elements keep their order."),
    };
  }
};

} // namespace nvfuser
