// Expressions that say when grids of one stream begin (programmatic dependent launch): a grid may
// be launched while the one before it is still running, and then waits for its results.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct WaitForPriorGridOpFields {
  static constexpr const char* kDoc =
      "A copy of the first operand, which the grid before this one in the stream may have written. "
      "The kernel may begin while that grid runs; it waits until it has ended before it touches "
      "global memory, but for reads that the other operands are computed from.";
  TensorView* out = nullptr;
  std::vector<TensorView*> ins{};
  static constexpr auto fields() {
    return std::tuple{
        output("out", &WaitForPriorGridOpFields::out, "Copy of the first operand."),
        input(
            "ins", &WaitForPriorGridOpFields::ins,
            "The tensor that is copied, then tensors that are older than the prior grid: they may "
            "be loaded before the wait."),
    };
  }
};
struct WaitForPriorGridOp final : ExprNode<WaitForPriorGridOp, WaitForPriorGridOpFields> {};

struct LaunchDependentGridOpFields {
  static constexpr const char* kDoc =
      "A copy of the first operand. When all blocks have computed the copy and the other operands, "
      "a grid that waits for this one may begin.";
  TensorView* out = nullptr;
  std::vector<TensorView*> ins{};
  static constexpr auto fields() {
    return std::tuple{
        output("out", &LaunchDependentGridOpFields::out, "Copy of the first operand."),
        input(
            "ins", &LaunchDependentGridOpFields::ins,
            "The tensor that is copied, then tensors that are computed before as well."),
    };
  }
};
struct LaunchDependentGridOp final : ExprNode<LaunchDependentGridOp, LaunchDependentGridOpFields> {
};

/// Whether `consumer` is ordered behind `producer` and reads no element of it.
[[nodiscard]] inline bool is_ordered_only(const TensorView* producer, const TensorView* consumer) {
  const Expr* expr = consumer->definition();
  return expr != nullptr &&
         (expr->is_a<WaitForPriorGridOp>() || expr->is_a<LaunchDependentGridOp>()) &&
         expr->inputs().front() != producer;
}

} // namespace nvfuser
