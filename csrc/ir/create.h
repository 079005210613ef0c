// Expressions that make a tensor from scalars.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct FullOp final : ExprNode<FullOp> {
  static constexpr ExprKind kKind = ExprKind::FullOp;
  static constexpr const char* kName = "FullOp";
  static constexpr const char* kDoc = "Every element is fill_value.";
  TensorView* out = nullptr;
  std::vector<Val*> shape;
  Val* fill_value = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &FullOp::out, "Result."),
        nvfuser::input("shape", &FullOp::shape, "Size of every dimension."),
        nvfuser::input("fill_value", &FullOp::fill_value, "The element."),
    };
  }
};

struct IotaOp final : ExprNode<IotaOp> {
  static constexpr ExprKind kKind = ExprKind::IotaOp;
  static constexpr const char* kName = "IotaOp";
  static constexpr const char* kDoc = "out[i] = start + i * step.";
  TensorView* out = nullptr;
  Val* length = nullptr;
  Val* start = nullptr;
  Val* step = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &IotaOp::out, "Result, one dimension."),
        nvfuser::input("length", &IotaOp::length, "Number of elements."),
        nvfuser::input("start", &IotaOp::start, "First element."),
        nvfuser::input("step", &IotaOp::step, "Difference of neighbours, not zero."),
    };
  }
};

struct EyeOp final : ExprNode<EyeOp> {
  static constexpr ExprKind kKind = ExprKind::EyeOp;
  static constexpr const char* kName = "EyeOp";
  static constexpr const char* kDoc = "One on the diagonal, zero elsewhere.";
  TensorView* out = nullptr;
  Val* rows = nullptr;
  Val* columns = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &EyeOp::out, "Result."),
        nvfuser::input("rows", &EyeOp::rows, "Number of rows."),
        nvfuser::input("columns", &EyeOp::columns, "Number of columns."),
    };
  }
};

struct TensorConstruct final : ExprNode<TensorConstruct> {
  static constexpr ExprKind kKind = ExprKind::TensorConstruct;
  static constexpr const char* kName = "TensorConstruct";
  static constexpr const char* kDoc = "A tensor of given scalars.";
  TensorView* out = nullptr;
  std::vector<Val*> elements;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &TensorConstruct::out, "Result."),
        nvfuser::input("elements", &TensorConstruct::elements, "The elements in row-major order."),
    };
  }
};

} // namespace nvfuser
