// Questions to statements on elements.
#pragma once

#include "ir/all_nodes.h"

namespace nvfuser {

/// The tensor that `val` is an element of; nullptr: it is something else.
[[nodiscard]] inline const TensorView* tensor_of_element(const Val* val) {
  return val->vtype() == ValType::TensorIndex ? static_cast<const TensorIndex*>(val)->view()
                                              : nullptr;
}

[[nodiscard]] inline bool is_unconditional(const Expr& expr) {
  return expr.predicate() == nullptr || expr.predicate()->is_true();
}

} // namespace nvfuser
