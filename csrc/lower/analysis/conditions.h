// Conditions as lists of terms that all have to hold.
#pragma once

#include <vector>

#include "base/types.h"
#include "ir/fwd.h"
#include "ir/kernel_nodes.h"

namespace nvfuser {

class IndexSimplifier;

/// The operands of `a && b && ..`, in order.
[[nodiscard]] std::vector<Val*> terms_of(Val* condition);

/// Their conjunction; nullptr: there are none.
[[nodiscard]] Val* all_of(const std::vector<Val*>& terms);

[[nodiscard]] bool contains_term(const std::vector<Val*>& terms, const Val* term);

/// Whether `term` holds wherever `known` does: x < n, where y < n and x <= y.
[[nodiscard]] bool implies(IndexSimplifier& simplifier, const Val* known, const Val* term);

/// The hardware index that `condition` tests for 0; Serial: none.
[[nodiscard]] ParallelType first_index_tested(const Val* condition);

/// Whether a statement only declares: an array, or the name of a part of an index.
[[nodiscard]] bool only_declares(const Expr& expr);

/// Whether all that `scope` does stands under a test that the hardware index `type` is 0.
[[nodiscard]] bool is_for_first_only(const Scope& scope, ParallelType type);

} // namespace nvfuser
