// Expressions that make one element from one element of each operand. On scalars they compute
// sizes, factors and indices; on tensors they run element by element.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct UnaryOp final : ExprNode<UnaryOp> {
  static constexpr ExprKind kKind = ExprKind::UnaryOp;
  static constexpr const char* kName = "UnaryOp";
  static constexpr const char* kDoc = "out = op(arg).";
  Val* out = nullptr;
  Val* arg = nullptr;
  UnaryOpType op = UnaryOpType::Neg;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &UnaryOp::out, "Result."),
        nvfuser::input("arg", &UnaryOp::arg, "Operand."),
        nvfuser::attr("op", &UnaryOp::op, "Operation."),
    };
  }
};

struct BinaryOp final : ExprNode<BinaryOp> {
  static constexpr ExprKind kKind = ExprKind::BinaryOp;
  static constexpr const char* kName = "BinaryOp";
  static constexpr const char* kDoc = "out = op(lhs, rhs).";
  Val* out = nullptr;
  Val* lhs = nullptr;
  Val* rhs = nullptr;
  BinaryOpType op = BinaryOpType::Add;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &BinaryOp::out, "Result."),
        nvfuser::input("lhs", &BinaryOp::lhs, "Left operand."),
        nvfuser::input("rhs", &BinaryOp::rhs, "Right operand."),
        nvfuser::attr("op", &BinaryOp::op, "Operation."),
    };
  }
};

struct TernaryOp final : ExprNode<TernaryOp> {
  static constexpr ExprKind kKind = ExprKind::TernaryOp;
  static constexpr const char* kName = "TernaryOp";
  static constexpr const char* kDoc = "out = op(in1, in2, in3).";
  Val* out = nullptr;
  Val* in1 = nullptr;
  Val* in2 = nullptr;
  Val* in3 = nullptr;
  TernaryOpType op = TernaryOpType::Where;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &TernaryOp::out, "Result."),
        nvfuser::input("in1", &TernaryOp::in1, "First operand."),
        nvfuser::input("in2", &TernaryOp::in2, "Second operand."),
        nvfuser::input("in3", &TernaryOp::in3, "Third operand."),
        nvfuser::attr("op", &TernaryOp::op, "Operation."),
    };
  }
};

struct LoadStoreOp final : ExprNode<LoadStoreOp> {
  static constexpr ExprKind kKind = ExprKind::LoadStoreOp;
  static constexpr const char* kName = "LoadStoreOp";
  static constexpr const char* kDoc =
      "Copy a value, possibly permuting dimensions (then out has a root domain) or moving it "
      "between memories.";
  Val* out = nullptr;
  Val* arg = nullptr;
  LoadStoreOpType op = LoadStoreOpType::Set;
  CacheOp cache_op = CacheOp::Unspecified;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &LoadStoreOp::out, "Copy."),
        nvfuser::input("arg", &LoadStoreOp::arg, "Source."),
        nvfuser::attr("op", &LoadStoreOp::op, "How it is moved."),
        nvfuser::attr("cache_op", &LoadStoreOp::cache_op, "Cache hint of the load."),
    };
  }
};

} // namespace nvfuser
