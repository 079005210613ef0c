// Hints: what a user asks of a cut.
#pragma once

#include <vector>

#include "ir/tensor_view.h"

namespace nvfuser::segment {

struct Hints {
  /// Tensors of one list are computed in one segment.
  std::vector<std::vector<TensorView*>> together = {};
  /// Readers of these are in other segments than their definitions, as behind a segment_set.
  std::vector<TensorView*> cuts = {};

  [[nodiscard]] bool empty() const {
    return together.empty() && cuts.empty();
  }
};

} // namespace nvfuser::segment
