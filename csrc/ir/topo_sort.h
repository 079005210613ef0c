// Ordering expressions: operands before results, ties in the order in which they were made.
#pragma once

#include <unordered_set>
#include <vector>

#include "ir/fwd.h"

namespace nvfuser {

/// The expressions that `to` is computed by, directly or not. The walk does not go past the values
/// in `stop`: their definitions are left out unless another path needs them.
/// Cost: O(n log n); no recursion, so that chains may be long.
[[nodiscard]] std::vector<Expr*> sorted_definitions(
    const std::vector<Val*>& to, const std::unordered_set<const Val*>& stop = {});

/// `exprs` (unique) so that every expression stands behind those it depends on.
[[nodiscard]] std::vector<Expr*> topo_sort(std::vector<Expr*> exprs);

} // namespace nvfuser
