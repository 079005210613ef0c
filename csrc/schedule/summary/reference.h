// The reference: the tensor whose loops all others take.
#pragma once

#include <optional>
#include <vector>

#include "base/refusal.h"
#include "graph/val_graph.h"
#include "ir/tensor_view.h"

namespace nvfuser::schedule {

struct Reference {
  TensorView* tensor = nullptr;
  /// Its axes in the order of its memory, outermost first.
  IterDomains axes;
};

/// An output that has the axes of all `tensors`, or what these axes were reshaped into: each tensor
/// can be computed inside its loops. The one with most axes, and the first of those.
/// Refuses where there is none: outputs of different shapes, and reshapes that differ.
/// Cost: O(outputs * tensors * rank).
struct ReferenceSearch {
  std::optional<Reference> reference;
  std::optional<Refusal> refusal; // if there is no reference
};
[[nodiscard]] ReferenceSearch find_reference(
    const ValGraph& exact,
    const std::vector<TensorView*>& outputs,
    const std::vector<TensorView*>& tensors);

} // namespace nvfuser::schedule
