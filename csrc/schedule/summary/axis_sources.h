// The sources of an axis: the axes that reshapes merged and split to get it.
#pragma once

#include <unordered_set>
#include <vector>

#include "graph/val_graph.h"

namespace nvfuser::schedule {

/// Classes of the exact graph.
using AxisClasses = std::unordered_set<int64_t>;

/// The classes that axes of `axes` are in, and those they are made of: the inputs of a transform
/// all of whose outputs are among them.
///   [A B] with A B = merge(A, B)      A B, A, B
///   [A, B] with A, B = split(A B)     A, B, A B;   [A] alone: A
/// A slice is not made of what it was sliced from: its loops do not visit the rest.
/// Cost: O(transforms that lead there).
[[nodiscard]] AxisClasses sources_of(const ValGraph& exact, const IterDomains& axes);

/// Which axes tell the elements of a tensor apart. Broadcasts tell nothing apart.
class AxesOf {
 public:
  AxesOf(const ValGraph& exact, const TensorView* tensor);

  /// Whether the tensor has the axis, or all that the axis is made of.
  /// Cost of all calls: O(transforms of axes of the tensor, and what follows from them).
  [[nodiscard]] bool have(const IterDomain* axis);

 private:
  void add_all_made_of_them();

  const ValGraph& exact_;
  AxisClasses present_; // the tensor's own, then those that are made of them as well
  bool has_all_ = false;
};

/// One question to `AxesOf`.
[[nodiscard]] bool has_axis(
    const ValGraph& exact, const TensorView* tensor, const IterDomain* axis);

/// Classes of broadcast axes that some reader resolves: their tensors share loops with a row.
[[nodiscard]] AxisClasses resolved_broadcasts(
    const ValGraph& exact, const std::vector<Expr*>& exprs);

/// The logical axes of `tensor` in the order of its memory, outermost first, without reductions. In
/// their own order if memory has them transformed.
[[nodiscard]] IterDomains axes_in_memory_order(const TensorView* tensor);

/// Logical axes that loops run over: no reductions, no broadcasts.
[[nodiscard]] IterDomains concrete_axes(const TensorView* tensor);

} // namespace nvfuser::schedule
