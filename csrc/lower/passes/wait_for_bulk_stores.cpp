#include "lower/passes/wait_for_bulk_stores.h"

#include <algorithm>
#include <set>

#include "ir/kernel_traits.h"
#include "ir/scopes.h"
#include "lower/analysis/checked_copies.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

using Tensors = std::set<const TensorView*>;

Tensors stored_in(const Kernel& kernel, const Scope& scope) {
  Tensors tensors;
  for_each_node(scope, [&](const Expr& statement) {
    if (const TensorView* box = box_stored_by(kernel, statement)) {
      tensors.insert(box);
    }
  });
  return tensors;
}

bool writes(const Expr& statement, const Tensors& tensors) {
  bool found = false;
  for_each_write(statement, [&](const TensorIndex& element) {
    found = found || tensors.contains(element.view());
  });
  return found;
}

/// Whether the thread that stores has to wait in front of a statement.
bool needs_wait(const Expr& statement, const Tensors& under_way) {
  return !under_way.empty() &&
         (traits_of(statement).barriers.has(Barrier::Block) || writes(statement, under_way));
}

/// Tensors of which boxes may be on their way out behind `scope`, if they are before it.
Tensors left_by(const Kernel& kernel, const Scope& scope, Tensors under_way) {
  for (Expr* node : scope) {
    if (const auto* loop = node->as<ForLoop>()) {
      Tensors left = left_by(kernel, loop->body, under_way);
      if (surely_runs(*loop)) {
        under_way.clear();
      }
      under_way.merge(left);
      continue;
    }
    if (needs_wait(*node, under_way)) {
      under_way.clear();
    }
    under_way.merge(stored_in(kernel, {node}));
  }
  return under_way;
}

class WaitInserter {
 public:
  explicit WaitInserter(Kernel& kernel) : kernel_(kernel) {}

  /// `under_way`: tensors of which boxes may be on their way out before `scope`.
  void run(Scope& scope, Tensors under_way) {
    Scope result;
    for (Expr* node : scope) {
      if (auto* loop = node->as<ForLoop>()) {
        Tensors before = under_way;
        if (is_serial(*loop)) { // an iteration follows what the one before left
          Tensors all = stored_in(kernel_, loop->body);
          all.insert(under_way.begin(), under_way.end());
          before.merge(left_by(kernel_, loop->body, std::move(all)));
        }
        run(loop->body, before);
        under_way = left_by(kernel_, {node}, std::move(under_way));
      } else {
        if (needs_wait(*node, under_way)) {
          result.push_back(kernel_.make<BulkStoreWait>({.only_reads = true}));
          under_way.clear();
        }
        under_way.merge(stored_in(kernel_, {node}));
      }
      result.push_back(node);
    }
    scope = std::move(result);
  }

 private:
  Kernel& kernel_;
};

} // namespace

void wait_for_bulk_stores(Kernel& kernel) {
  if (stored_in(kernel, kernel.body).empty()) {
    return;
  }
  WaitInserter(kernel).run(kernel.body, {});
  kernel.body.push_back(kernel.make<BulkStoreWait>({.only_reads = false}));
}

} // namespace nvfuser
