#include "lower/passes/wait_for_products.h"

#include <algorithm>

#include "ir/scopes.h"
#include "lower/analysis/block_scales.h"
#include "lower/analysis/tcgen05.h"
#include "lower/analysis/wgmma.h"

namespace nvfuser {
namespace {

/// Whether a statement goes on while its threads do: a product, or a copy of scales before it.
bool is_product(const Expr& statement) {
  return is_wgmma(&statement) || is_tcgen05(&statement) || scales_copied_by(statement) != nullptr;
}

/// How the products of a kernel do: all are of one kind, as no GPU has both.
const AsyncMechanism* products_of(const Kernel& kernel) {
  const AsyncMechanism* products = nullptr;
  for_each_node(kernel.body, [&](const Expr& node) {
    products = is_wgmma(&node)     ? &products_of_warpgroups()
               : is_tcgen05(&node) ? &products_of_blocks()
                                   : products;
  });
  return products;
}

/// Whether a node is such products, with loops around, and nothing else.
bool is_of_products(const Expr& node) {
  const auto bodies = bodies_of(node);
  if (bodies.empty()) {
    return is_product(node);
  }
  return node.is_a<ForLoop>() && std::ranges::all_of(bodies, [](const Scope* body) {
           return !body->empty() && std::ranges::all_of(*body, [](const Expr* inner) {
             return is_of_products(*inner);
           });
         });
}

/// Whether a kernel copies scales to tensor memory. Its threads wrote them to shared memory by the
/// generic proxy, and the instruction that copies them reads by the asynchronous one.
bool copies_scales(const Kernel& kernel) {
  bool found = false;
  for_each_node(
      kernel.body, [&](const Expr& node) { found = found || scales_copied_by(node) != nullptr; });
  return found;
}

/// Neighbours that are products are a group; what follows needs them, or may change what they read.
/// `needs_fence`: threads make what they wrote to shared memory visible before each group.
void make_groups(Kernel& kernel, Scope& scope, const AsyncMechanism& products, bool needs_fence) {
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
        if (needs_fence) {
          append({kernel.make<FenceAsyncProxy>({})});
        }
        append(products.acquire(kernel, /*keep_stages=*/0));
      }
      is_in_group = true;
    } else {
      end_group();
      for (Scope* body : bodies_of(*node)) {
        make_groups(kernel, *body, products, needs_fence);
      }
    }
    result.push_back(node);
  }
  end_group();
  scope = std::move(result);
}

} // namespace

void wait_for_products(Kernel& kernel) {
  if (const AsyncMechanism* products = products_of(kernel)) {
    make_groups(kernel, kernel.body, *products, copies_scales(kernel));
  }
}

} // namespace nvfuser
