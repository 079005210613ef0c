// Walking the tree of a kernel.
#pragma once

#include <vector>

#include "ir/kernel_nodes.h"

namespace nvfuser {

/// The lists of statements that a loop or a condition owns, in order; nothing for a statement.
[[nodiscard]] std::vector<Scope*> bodies_of(Expr& expr);
[[nodiscard]] std::vector<const Scope*> bodies_of(const Expr& expr);

/// Call fn(Expr&) for every node of the tree, owners before what they own.
template <typename Fn>
void for_each_node(const Scope& scope, const Fn& fn) {
  for (Expr* expr : scope) {
    fn(*expr);
    for (const Scope* body : bodies_of(*expr)) {
      for_each_node(*body, fn);
    }
  }
}

} // namespace nvfuser
