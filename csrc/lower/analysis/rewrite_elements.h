// Looking at, and changing, the elements that kernel statements touch.
//
// The index of an element may itself depend on an element: T0[T1[i] * 4 + j], where a gather looks
// up T0. These *inner* elements are elements of the statement like any other; they are read. So are
// those that a condition depends on.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

/// The elements that the index of `element` depends on, and those that theirs do; each once.
[[nodiscard]] std::vector<const TensorIndex*> inner_elements(const TensorIndex& element);
/// The same for a scalar expression: the elements it depends on.
[[nodiscard]] std::vector<const TensorIndex*> elements_in(const Val* scalar);

/// Call fn(const TensorIndex&) for every element a statement reads.
template <typename Fn>
void for_each_read(const Expr& statement, const Fn& fn) {
  for (const Val* val : statement.inputs()) {
    for (const TensorIndex* element : elements_in(val)) {
      fn(*element);
    }
  }
  for (const Val* val : statement.outputs()) {
    if (val->vtype() == ValType::TensorIndex) {
      for (const TensorIndex* element : inner_elements(*static_cast<const TensorIndex*>(val))) {
        fn(*element);
      }
    }
  }
}

/// Call fn(const TensorIndex&) for every element a statement writes.
template <typename Fn>
void for_each_write(const Expr& statement, const Fn& fn) {
  for (const Val* val : statement.outputs()) {
    if (val->vtype() == ValType::TensorIndex) {
      fn(*static_cast<const TensorIndex*>(val));
    }
  }
}

/// Call fn(const TensorIndex&) for every element a statement reads or writes.
template <typename Fn>
void for_each_element(const Expr& statement, const Fn& fn) {
  for_each_read(statement, fn);
  for_each_write(statement, fn);
}

/// Give elements another index: `new_index` returns it, or nullptr to leave the element alone. A
/// statement that stands in several branches is changed once.
void rewrite_elements(
    Kernel& kernel, const Scope& scope, const std::function<Val*(const TensorIndex&)>& new_index);

} // namespace nvfuser
