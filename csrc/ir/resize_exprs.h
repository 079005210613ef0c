// Expressions that take a part of a tensor, or surround it. Resize steps lead from the root domain
// of the result to its logical domain.
#pragma once

#include "ir/expr.h"
#include "ir/iter_domain.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct SliceOp final : ExprNode<SliceOp> {
  static constexpr ExprKind kKind = ExprKind::SliceOp;
  static constexpr const char* kName = "SliceOp";
  static constexpr const char* kDoc =
      "The elements with start <= position < stop in each dimension.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  std::vector<Val*> starts;
  std::vector<Val*> stops;
  std::vector<Val*> steps;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &SliceOp::out, "Result."),
        nvfuser::input("arg", &SliceOp::arg, "Operand."),
        nvfuser::input(
            "starts", &SliceOp::starts, "First position in each dimension, in [0, extent]."),
        nvfuser::input("stops", &SliceOp::stops, "Position behind the last, in [start, extent]."),
        nvfuser::input("steps", &SliceOp::steps, "Distance of the positions taken; 1."),
    };
  }
};

struct PadOp final : ExprNode<PadOp> {
  static constexpr ExprKind kKind = ExprKind::PadOp;
  static constexpr const char* kName = "PadOp";
  static constexpr const char* kDoc = "arg surrounded by a value. A negative width cuts off.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  Val* value = nullptr;
  std::vector<Val*> widths;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &PadOp::out, "Result."),
        nvfuser::input("arg", &PadOp::arg, "Operand."),
        nvfuser::input("value", &PadOp::value, "The element outside of arg."),
        nvfuser::input(
            "widths", &PadOp::widths, "Left and right of each dimension, the outermost first."),
    };
  }
};

struct CatOp final : ExprNode<CatOp> {
  static constexpr ExprKind kKind = ExprKind::CatOp;
  static constexpr const char* kName = "CatOp";
  static constexpr const char* kDoc =
      "Operands behind each other along dim. Each is padded to the extent of the result, so that "
      "position i of the result is position i of the one operand whose range holds it; the padding "
      "is never read.";
  TensorView* out = nullptr;
  std::vector<TensorView*> args;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &CatOp::out, "Result."),
        nvfuser::input("args", &CatOp::args, "Results of PadOp, all of one shape."),
        nvfuser::attr("dim", &CatOp::dim, "Dimension along which they lie."),
    };
  }
};

struct RepeatOp final : ExprNode<RepeatOp> {
  static constexpr ExprKind kKind = ExprKind::RepeatOp;
  static constexpr const char* kName = "RepeatOp";
  static constexpr const char* kDoc = "arg several times along its dimensions.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  std::vector<int64_t> repeats;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &RepeatOp::out, "Result."),
        nvfuser::input("arg", &RepeatOp::arg, "Operand."),
        nvfuser::attr("repeats", &RepeatOp::repeats, "Per dimension: how often it is repeated."),
    };
  }
};

struct ViewAsScalar final : ExprNode<ViewAsScalar> {
  static constexpr ExprKind kKind = ExprKind::ViewAsScalar;
  static constexpr const char* kName = "ViewAsScalar";
  static constexpr const char* kDoc =
      "Pairs of numbers as complex numbers' parts: the last dimension of the result is a vector of "
      "the components of one element.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  IterDomain* vector_id = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &ViewAsScalar::out, "Result."),
        nvfuser::input("arg", &ViewAsScalar::arg, "Operand of a complex type."),
        nvfuser::attr("vector_id", &ViewAsScalar::vector_id, "Dimension of the components."),
    };
  }
};

} // namespace nvfuser
