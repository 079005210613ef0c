// Expressions that give the same elements another shape.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct BroadcastOp final : ExprNode<BroadcastOp> {
  static constexpr ExprKind kKind = ExprKind::BroadcastOp;
  static constexpr const char* kName = "BroadcastOp";
  static constexpr const char* kDoc = "Add dimensions of size one.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  std::vector<bool> flags;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &BroadcastOp::out, "Result."),
        nvfuser::input("arg", &BroadcastOp::arg, "Operand."),
        nvfuser::attr(
            "flags", &BroadcastOp::flags, "Per dimension of the result: whether it is new."),
    };
  }
};

struct SqueezeOp final : ExprNode<SqueezeOp> {
  static constexpr ExprKind kKind = ExprKind::SqueezeOp;
  static constexpr const char* kName = "SqueezeOp";
  static constexpr const char* kDoc = "Remove dimensions of size one.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  std::vector<bool> flags;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &SqueezeOp::out, "Result."),
        nvfuser::input("arg", &SqueezeOp::arg, "Operand."),
        nvfuser::attr(
            "flags", &SqueezeOp::flags, "Per dimension of the operand: whether it is removed."),
    };
  }
};

struct ExpandOp final : ExprNode<ExpandOp> {
  static constexpr ExprKind kKind = ExprKind::ExpandOp;
  static constexpr const char* kName = "ExpandOp";
  static constexpr const char* kDoc = "Give dimensions of size one a larger size without copying.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  std::vector<Val*> extents;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output(
            "out", &ExpandOp::out, "Result; expanded dimensions have an expanded extent."),
        nvfuser::input("arg", &ExpandOp::arg, "Operand."),
        nvfuser::input("extents", &ExpandOp::extents, "Size of every dimension of the result."),
    };
  }
};

struct ReshapeOp final : ExprNode<ReshapeOp> {
  static constexpr ExprKind kKind = ExprKind::ReshapeOp;
  static constexpr const char* kName = "ReshapeOp";
  static constexpr const char* kDoc =
      "The elements in row-major order under a new shape. Merges and splits lead from the root "
      "domain of the result to its logical domain.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &ReshapeOp::out, "Result."),
        nvfuser::input("arg", &ReshapeOp::arg, "Operand."),
    };
  }
};

} // namespace nvfuser
