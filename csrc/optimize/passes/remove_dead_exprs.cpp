#include "optimize/passes/remove_dead_exprs.h"

#include <unordered_set>

namespace nvfuser::optimize {

bool remove_dead_exprs(Fusion& fusion) {
  const std::vector<Expr*> live = fusion.exprs();
  const std::unordered_set<const Expr*> is_live(live.begin(), live.end());
  bool has_changed = false;
  for (Expr* expr : fusion.all_exprs()) {
    if (!tensor_outputs(expr).empty() && !is_live.contains(expr)) {
      fusion.remove(expr);
      has_changed = true;
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
