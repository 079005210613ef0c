// Finds the axes that loop axes are built from, to tell loops that run over more than others.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "graph/val_graph.h"

namespace nvfuser::transform {

/// The axes that one axis is built from, itself among them. What another tensor reshaped counts as
/// well: of sum(reshape(t, [18])) an axis of the sum is built from both axes of t.
class SourceAxes {
 public:
  SourceAxes(const ValGraph& exact, IterDomain* axis);

  /// Is `id` built from an axis of more than one position that the other one is not built from?
  [[nodiscard]] bool are_exceeded_by(IterDomain* id) const;

 private:
  const ValGraph& exact_;
  std::unordered_set<int64_t> groups_;
};

} // namespace nvfuser::transform
