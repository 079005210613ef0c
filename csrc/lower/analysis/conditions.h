// Conditions as lists of terms that all have to hold.
#pragma once

#include <vector>

#include "ir/fwd.h"

namespace nvfuser {

/// The operands of `a && b && ..`, in order.
[[nodiscard]] std::vector<Val*> terms_of(Val* condition);

/// Their conjunction; nullptr: there are none.
[[nodiscard]] Val* all_of(const std::vector<Val*>& terms);

[[nodiscard]] bool contains_term(const std::vector<Val*>& terms, const Val* term);

} // namespace nvfuser
