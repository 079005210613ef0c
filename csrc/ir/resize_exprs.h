// Expressions that take a part of a tensor, or surround it. Resize steps lead from the root domain
// of the result to its logical domain.
#pragma once

#include "ir/expr.h"
#include "ir/iter_domain.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct SliceOpFields {
  static constexpr const char* kDoc =
      "The elements with start <= position < stop in each dimension.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  std::vector<Val*> starts{};
  std::vector<Val*> stops{};
  std::vector<Val*> steps{};
  static constexpr auto fields() {
    return std::tuple{
        output("out", &SliceOpFields::out, "Result."),
        input("arg", &SliceOpFields::arg, "Operand."),
        input(
            "starts", &SliceOpFields::starts, "First position in each dimension, in [0, extent]."),
        input("stops", &SliceOpFields::stops, "Position behind the last, in [start, extent]."),
        input("steps", &SliceOpFields::steps, "Distance of the positions taken; 1."),
    };
  }
};
struct SliceOp final : ExprNode<SliceOp, SliceOpFields> {};

struct PadOpFields {
  static constexpr const char* kDoc = "arg surrounded by a value. A negative width cuts off.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  Val* value = nullptr;
  std::vector<Val*> widths{};
  static constexpr auto fields() {
    return std::tuple{
        output("out", &PadOpFields::out, "Result."),
        input("arg", &PadOpFields::arg, "Operand."),
        input("value", &PadOpFields::value, "The element outside of arg."),
        input(
            "widths", &PadOpFields::widths,
            "Left and right of each dimension, the outermost first."),
    };
  }
};
struct PadOp final : ExprNode<PadOp, PadOpFields> {};

struct CatOpFields {
  static constexpr const char* kDoc =
      "Operands behind each other along dim. Each is padded to the extent of the result, so that "
      "position i of the result is position i of the one operand whose range holds it; the padding "
      "is never read.";
  TensorView* out = nullptr;
  std::vector<TensorView*> args{};
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &CatOpFields::out, "Result."),
        input("args", &CatOpFields::args, "Results of PadOp, all of one shape."),
        attr("dim", &CatOpFields::dim, "Dimension along which they lie."),
    };
  }
};
struct CatOp final : ExprNode<CatOp, CatOpFields> {};

struct RepeatOpFields {
  static constexpr const char* kDoc = "arg several times along its dimensions.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  std::vector<int64_t> repeats{};
  static constexpr auto fields() {
    return std::tuple{
        output("out", &RepeatOpFields::out, "Result."),
        input("arg", &RepeatOpFields::arg, "Operand."),
        attr("repeats", &RepeatOpFields::repeats, "Per dimension: how often it is repeated."),
    };
  }
};
struct RepeatOp final : ExprNode<RepeatOp, RepeatOpFields> {};

struct ViewAsScalarFields {
  static constexpr const char* kDoc =
      "Pairs of numbers as complex numbers' parts: the last dimension of the result is a vector of "
      "the components of one element.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  IterDomain* vector_id = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &ViewAsScalarFields::out, "Result."),
        input("arg", &ViewAsScalarFields::arg, "Operand of a complex type."),
        attr("vector_id", &ViewAsScalarFields::vector_id, "Dimension of the components."),
    };
  }
};
struct ViewAsScalar final : ExprNode<ViewAsScalar, ViewAsScalarFields> {};

} // namespace nvfuser
