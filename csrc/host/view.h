// Views: tensors that lie in the memory of another one. Permuting, slicing, broadcasting and, where
// strides allow it, reshaping move no element.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/refusal.h"
#include "eval/evaluator.h"
#include "ir/fusion.h"

namespace nvfuser::host {

/// How a view lies in the memory of its base.
struct ViewLayout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides; // elements
  int64_t offset = 0;           // of its first element, elements
};

/// How the one output of `fusion` lies in the memory of its first input, whose logical dimensions
/// have these sizes and strides; or why it needs memory of its own. `evaluator` knows the sizes.
[[nodiscard]] std::variant<ViewLayout, Refusal> find_view(
    const Fusion& fusion,
    std::span<const int64_t> sizes,
    std::span<const int64_t> strides,
    ExpressionEvaluator& evaluator);

} // namespace nvfuser::host
