// Caches, factored reductions and other changes of the graph of tensors, as the steps that made
// them; and the way back to the math.
//
// A step is undone in the state it left behind, so undoing starts with the newest. Most of what its
// call said is read off the graph at that point: which consumers read a copy, how the copy moves
// its data.
#pragma once

#include <vector>

#include "ir/fusion.h"

namespace nvfuser {

struct GraphStep {
  GraphEffect effect;
  int64_t serial = 0; // order of the steps
  // Set for caches, once undone:
  LoadStoreOpType op_type = LoadStoreOpType::Set;
  CacheOp cache_op = CacheOp::Unspecified;
  /// One result of every expression that reads what was made. For cache_after, empty means all
  /// readers of its tensor; for cache_before, its tensor is left out, and these were added later.
  std::vector<TensorView*> readers;
};

/// The steps that outputs depend on, oldest first. Copies that became outputs, and what was added
/// to the math after the schedule, are math.
[[nodiscard]] std::vector<GraphStep> graph_steps(const Fusion& fusion);

/// Undo one step of `fusion`; all later ones are undone already. The domain of a tensor is again
/// the one that the step replaced.
void undo_graph_step(GraphStep& step);

} // namespace nvfuser
