// The values that a scalar depends on.
#pragma once

#include <vector>

#include "ir/fwd.h"

namespace nvfuser {

/// Whether `expr` computes a scalar, or an element, from others: pointwise, and no copy.
[[nodiscard]] bool is_arithmetic(const Expr& expr);

/// Whether `val` depends on more than itself.
[[nodiscard]] bool has_dependencies(const Val& val);

/// `val` and all values that it is computed from by pointwise operations, each once. An element
/// T1[i] is a value of its own, which depends on its index: T0[T1[i]] is another element for
/// another i. How its tensor was computed is no part of the expression.
/// Cost: O(expression); no recursion, because sums of many sizes are deep.
[[nodiscard]] std::vector<const Val*> dependencies(const Val* val);

/// Whether `source` is among the dependencies of `val`; a value depends on itself.
[[nodiscard]] bool depends_on(const Val* val, const Val* source);

} // namespace nvfuser
