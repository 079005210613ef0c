// StatementContext: where one statement stands, and the elements of tensors as seen from there.
#pragma once

#include "lower/analysis/index_walk.h"

namespace nvfuser {

struct StatementContext {
  /// For the statement that defines `out` in the loops of `nest`.
  StatementContext(
      Kernel& kernel, const LoopNest& nest, const TensorView* out, IndexWalk::Shared& walks);

  Kernel& kernel;
  const TensorView* out;
  IndexWalk walk;
  Val* condition = nullptr; // of the statement alone: it writes inside of the tensor

  [[nodiscard]] TensorIndex* element(TensorView* tensor);
  /// The element at other positions than those of the loops.
  [[nodiscard]] TensorIndex* element_at(TensorView* tensor, const IndexWalk::Positions& positions);
  /// The element of `result`, a tensor, that the statement defines.
  [[nodiscard]] TensorIndex* result(Val* result);
  /// The element of a tensor that the statement reads; a scalar is itself.
  [[nodiscard]] Val* operand(Val* val);
  /// The statement that sets the element of `tensor` to a value.
  [[nodiscard]] Expr* copy_to(TensorView* tensor, Val* value);
};

} // namespace nvfuser
