// Which resizes leave elements of their axis out.
#pragma once

#include <optional>
#include <unordered_map>

#include "eval/simplify.h"
#include "ir/expr.h"

namespace nvfuser::transform {

/// Asked about the resizes of one fusion, which is not changed meanwhile. It remembers: the widths
/// around the operands of a cat are sums of each other, and are walked once.
class LostElements {
 public:
  /// Whether `expr` is a resize that does not provably grow its axis. A loop over a part of an axis
  /// would not compute what other consumers, or a caller, read: it is not repeated.
  /// Cost: O(operations that the widths are made of and that were not met before).
  [[nodiscard]] bool in(const Expr* expr);

 private:
  [[nodiscard]] bool is_sum_of_sizes(const Val* width);

  std::unordered_map<const Val*, bool> is_sum_; // only looked up
  std::optional<IndexSimplifier> simplifier_;   // looks at the whole fusion: once, if at all
};

} // namespace nvfuser::transform
