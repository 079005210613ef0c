// Expressions that give the same elements another shape.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct BroadcastOpFields {
  static constexpr const char* kDoc = "Add dimensions of size one.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  std::vector<bool> flags{};
  static constexpr auto fields() {
    return std::tuple{
        output("out", &BroadcastOpFields::out, "Result."),
        input("arg", &BroadcastOpFields::arg, "Operand."),
        attr("flags", &BroadcastOpFields::flags, "Per dimension of the result: whether it is new."),
    };
  }
};
struct BroadcastOp final : ExprNode<BroadcastOp, BroadcastOpFields> {};

struct SqueezeOpFields {
  static constexpr const char* kDoc = "Remove dimensions of size one.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  std::vector<bool> flags{};
  bool squeeze_expanded = false;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &SqueezeOpFields::out, "Result."),
        input("arg", &SqueezeOpFields::arg, "Operand."),
        attr(
            "flags", &SqueezeOpFields::flags,
            "Per dimension of the operand: whether it is removed."),
        attr(
            "squeeze_expanded", &SqueezeOpFields::squeeze_expanded,
            "Whether a removed dimension may be one that repeats its element."),
    };
  }
};
struct SqueezeOp final : ExprNode<SqueezeOp, SqueezeOpFields> {};

struct ExpandOpFields {
  static constexpr const char* kDoc = "Give dimensions of size one a larger size without copying.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  std::vector<Val*> extents{};
  static constexpr auto fields() {
    return std::tuple{
        output("out", &ExpandOpFields::out, "Result; expanded dimensions have an expanded extent."),
        input("arg", &ExpandOpFields::arg, "Operand."),
        input("extents", &ExpandOpFields::extents, "Size of every dimension of the result."),
    };
  }
};
struct ExpandOp final : ExprNode<ExpandOp, ExpandOpFields> {};

struct ReshapeOpFields {
  static constexpr const char* kDoc =
      "The elements in row-major order under a new shape. Merges and splits lead from the root "
      "domain of the result to its logical domain.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &ReshapeOpFields::out, "Result."),
        input("arg", &ReshapeOpFields::arg, "Operand."),
    };
  }
};
struct ReshapeOp final : ExprNode<ReshapeOp, ReshapeOpFields> {};

} // namespace nvfuser
