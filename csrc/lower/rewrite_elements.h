// Looking at, and changing, the elements that kernel statements touch.
#pragma once

#include <functional>
#include <unordered_map>

#include "lower/kernel.h"

namespace nvfuser {

/// Call fn(const TensorIndex&) for every element a statement reads or writes.
template <typename Fn>
void for_each_element(const Expr& statement, const Fn& fn) {
  for (const auto* list : {&statement.inputs(), &statement.outputs()}) {
    for (const Val* val : *list) {
      if (val->vtype() == ValType::TensorIndex) {
        fn(*static_cast<const TensorIndex*>(val));
      }
    }
  }
}

/// Whether `leaf` occurs in the scalar expression `val`.
[[nodiscard]] bool depends_on(const Val* val, const Val* leaf);

/// Give elements another index: `new_index` returns it, or nullptr to leave the element alone. A
/// statement that stands in several branches is changed once.
void rewrite_elements(
    Kernel& kernel, const Scope& scope, const std::function<Val*(const TensorIndex&)>& new_index);

} // namespace nvfuser
