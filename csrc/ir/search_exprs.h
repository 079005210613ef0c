// Expressions whose elements depend on all elements along one dimension.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct ScanOpFields {
  static constexpr const char* kDoc = "out[i] = op(init, arg[0], .., arg[i]) along dim.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  Val* init = nullptr;
  BinaryOpType op = BinaryOpType::Add;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &ScanOpFields::out, "Result."),
        input("arg", &ScanOpFields::arg, "Operand."),
        attr(
            "init", &ScanOpFields::init,
            "Identity of op, or the value that everything is combined with."),
        attr("op", &ScanOpFields::op, "Associative combiner."),
        attr("dim", &ScanOpFields::dim, "Dimension along which is combined."),
    };
  }
};
struct ScanOp final : ExprNode<ScanOp, ScanOpFields> {};

struct TopKOpFields {
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
        output(
            "values", &TopKOpFields::values,
            "The elements. A Resize leads from the extent of arg to k."),
        output("indices", &TopKOpFields::indices, "Their positions in arg, dtype Int."),
        input("arg", &TopKOpFields::arg, "Operand."),
        input("k", &TopKOpFields::k, "How many."),
        attr("dim", &TopKOpFields::dim, "Dimension."),
        attr("largest", &TopKOpFields::largest, "Whether the largest are taken."),
        attr(
            "sorted", &TopKOpFields::sorted,
            "Whether they come in order; if not, the order is not defined."),
    };
  }
};
struct TopKOp final : ExprNode<TopKOp, TopKOpFields> {};

struct ArgsortOpFields {
  static constexpr const char* kDoc = "The positions that bring arg into order along a dimension.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  int64_t dim = 0;
  bool descending = false;
  bool stable = false;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &ArgsortOpFields::out, "Positions in arg, dtype Int."),
        input("arg", &ArgsortOpFields::arg, "Operand."),
        attr("dim", &ArgsortOpFields::dim, "Dimension."),
        attr("descending", &ArgsortOpFields::descending, "Whether the largest comes first."),
        attr("stable", &ArgsortOpFields::stable, "Whether equal elements keep their order."),
    };
  }
};
struct ArgsortOp final : ExprNode<ArgsortOp, ArgsortOpFields> {};

} // namespace nvfuser
