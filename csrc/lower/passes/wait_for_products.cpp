#include "lower/passes/wait_for_products.h"

#include <algorithm>

#include "ir/scopes.h"
#include "lower/analysis/wgmma.h"

namespace nvfuser {
namespace {

/// Whether a node is products of warpgroups, with loops around, and nothing else.
bool is_of_products(const Expr& node) {
  const auto bodies = bodies_of(node);
  if (bodies.empty()) {
    return is_wgmma(&node);
  }
  return node.is_a<ForLoop>() && std::ranges::all_of(bodies, [](const Scope* body) {
           return !body->empty() && std::ranges::all_of(*body, [](const Expr* inner) {
             return is_of_products(*inner);
           });
         });
}

/// Neighbours that are products are a group; what follows needs them, or may change what they read.
void make_groups(Kernel& kernel, Scope& scope) {
  const AsyncMechanism& products = products_of_warpgroups();
  Scope result;
  const auto append = [&](const Scope& statements) {
    result.insert(result.end(), statements.begin(), statements.end());
  };
  bool is_in_group = false;
  const auto end_group = [&] {
    if (is_in_group) {
      append(products.commit(kernel));
      append(products.wait(kernel, /*keep_stages=*/0));
    }
    is_in_group = false;
  };
  for (Expr* node : scope) {
    if (is_of_products(*node)) {
      if (!is_in_group) {
        append(products.acquire(kernel, /*keep_stages=*/0));
      }
      is_in_group = true;
    } else {
      end_group();
      for (Scope* body : bodies_of(*node)) {
        make_groups(kernel, *body);
      }
    }
    result.push_back(node);
  }
  end_group();
  scope = std::move(result);
}

} // namespace

void wait_for_products(Kernel& kernel) {
  bool has_products = false;
  for_each_node(
      kernel.body, [&](const Expr& node) { has_products = has_products || is_wgmma(&node); });
  if (has_products) {
    make_groups(kernel, kernel.body);
  }
}

} // namespace nvfuser
