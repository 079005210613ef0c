// Expressions that make a tensor from scalars.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct FullOpFields {
  static constexpr const char* kDoc = "Every element is fill_value.";
  TensorView* out = nullptr;
  std::vector<Val*> shape{};
  Val* fill_value = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &FullOpFields::out, "Result."),
        input("shape", &FullOpFields::shape, "Size of every dimension."),
        input("fill_value", &FullOpFields::fill_value, "The element."),
    };
  }
};
struct FullOp final : ExprNode<FullOp, FullOpFields> {};

struct IotaOpFields {
  static constexpr const char* kDoc = "out[i] = start + i * step.";
  TensorView* out = nullptr;
  Val* length = nullptr;
  Val* start = nullptr;
  Val* step = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &IotaOpFields::out, "Result, one dimension."),
        input("length", &IotaOpFields::length, "Number of elements."),
        input("start", &IotaOpFields::start, "First element."),
        input("step", &IotaOpFields::step, "Difference of neighbours, not zero."),
    };
  }
};
struct IotaOp final : ExprNode<IotaOp, IotaOpFields> {};

struct EyeOpFields {
  static constexpr const char* kDoc = "One on the diagonal, zero elsewhere.";
  TensorView* out = nullptr;
  Val* rows = nullptr;
  Val* columns = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &EyeOpFields::out, "Result."),
        input("rows", &EyeOpFields::rows, "Number of rows."),
        input("columns", &EyeOpFields::columns, "Number of columns."),
    };
  }
};
struct EyeOp final : ExprNode<EyeOp, EyeOpFields> {};

struct TensorConstructFields {
  static constexpr const char* kDoc = "A tensor of given scalars.";
  TensorView* out = nullptr;
  std::vector<Val*> elements{};
  static constexpr auto fields() {
    return std::tuple{
        output("out", &TensorConstructFields::out, "Result."),
        input("elements", &TensorConstructFields::elements, "The elements in row-major order."),
    };
  }
};
struct TensorConstruct final : ExprNode<TensorConstruct, TensorConstructFields> {};

} // namespace nvfuser
