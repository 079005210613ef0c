// Reductions over blocks: which results every block has, and which only the last one to arrive.
//
// A result that another block reads is left in all of them, which costs a barrier over blocks. One
// that is only stored is computed by the block that arrives last, and so is what follows from it.
// The last block of one reduction may not be that of another: if results of reductions meet, all
// reductions but the last are for every block.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "lower/kernel.h"

namespace nvfuser {

class LastBlocks {
 public:
  /// Requires: sorted expressions, the loop model.
  /// Cost:     O(reductions over blocks * expressions).
  explicit LastBlocks(const Kernel& kernel);

  /// Whether every block needs the result of a reduction over blocks.
  [[nodiscard]] bool is_for_all(const Expr* reduction) const {
    return for_all_.count(reduction) != 0;
  }
  /// The reduction whose last block alone holds `tensor`; nullptr: every block does.
  [[nodiscard]] const Expr* holder(const Val* tensor) const;

 private:
  void decide(const Kernel& kernel, const Expr* reduction);

  std::unordered_set<const Expr*> for_all_;
  std::unordered_map<const Val*, const Expr*> holders_;
};

} // namespace nvfuser
