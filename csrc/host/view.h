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
#include "runtime/dlpack_tensor.h"

namespace nvfuser::host {

/// How a view lies in the memory of its base.
struct ViewLayout {
  size_t base = 0; // position among the inputs
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides; // elements
  int64_t offset = 0;           // of its first element, elements
};

/// How `output` lies in the memory of an input of `fusion`; or why it needs memory of its own.
/// `inputs`: what a run passes for the inputs; `evaluator` knows the sizes.
[[nodiscard]] std::variant<ViewLayout, Refusal> find_view(
    const Fusion& fusion,
    const TensorView* output,
    std::span<const Argument> inputs,
    ExpressionEvaluator& evaluator);

} // namespace nvfuser::host
