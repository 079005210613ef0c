// Expressions that make one element from one element of each operand. On scalars they compute
// sizes, factors and indices; on tensors they run element by element.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct UnaryOpFields {
  static constexpr const char* kDoc = "out = op(arg).";
  Val* out = nullptr;
  Val* arg = nullptr;
  UnaryOpType op = UnaryOpType::Neg;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &UnaryOpFields::out, "Result."),
        input("arg", &UnaryOpFields::arg, "Operand."),
        attr("op", &UnaryOpFields::op, "Operation."),
    };
  }
};
struct UnaryOp final : ExprNode<UnaryOp, UnaryOpFields> {};

struct BinaryOpFields {
  static constexpr const char* kDoc = "out = op(lhs, rhs).";
  Val* out = nullptr;
  Val* lhs = nullptr;
  Val* rhs = nullptr;
  BinaryOpType op = BinaryOpType::Add;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &BinaryOpFields::out, "Result."),
        input("lhs", &BinaryOpFields::lhs, "Left operand."),
        input("rhs", &BinaryOpFields::rhs, "Right operand."),
        attr("op", &BinaryOpFields::op, "Operation."),
    };
  }
};
struct BinaryOp final : ExprNode<BinaryOp, BinaryOpFields> {};

struct TernaryOpFields {
  static constexpr const char* kDoc = "out = op(in1, in2, in3).";
  Val* out = nullptr;
  Val* in1 = nullptr;
  Val* in2 = nullptr;
  Val* in3 = nullptr;
  TernaryOpType op = TernaryOpType::Where;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &TernaryOpFields::out, "Result."),
        input("in1", &TernaryOpFields::in1, "First operand."),
        input("in2", &TernaryOpFields::in2, "Second operand."),
        input("in3", &TernaryOpFields::in3, "Third operand."),
        attr("op", &TernaryOpFields::op, "Operation."),
    };
  }
};
struct TernaryOp final : ExprNode<TernaryOp, TernaryOpFields> {};

struct LoadStoreOpFields {
  static constexpr const char* kDoc =
      "Copy a value, possibly permuting dimensions (then out has a root domain) or moving it "
      "between memories.";
  Val* out = nullptr;
  Val* arg = nullptr;
  LoadStoreOpType op = LoadStoreOpType::Set;
  CacheOp cache_op = CacheOp::Unspecified;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &LoadStoreOpFields::out, "Copy."),
        input("arg", &LoadStoreOpFields::arg, "Source."),
        attr("op", &LoadStoreOpFields::op, "How it is moved."),
        attr("cache_op", &LoadStoreOpFields::cache_op, "Cache hint of the load."),
    };
  }
};
struct LoadStoreOp final : ExprNode<LoadStoreOp, LoadStoreOpFields> {};

} // namespace nvfuser
