// exp(x - max(x)): exponentials of elements about the maximum of their row, as a softmax has them.
#pragma once

#include <optional>

#include "ir/kernel_nodes.h"
#include "ir/reduce.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct PowerAboutMaximum {
  const TensorView* out = nullptr;      // the exponential
  const TensorView* elements = nullptr; // x
  const ReductionOp* maximum = nullptr; // its last step, if it is found in several
};

/// No value: `expr` is something else. Both may see their own copies of x, each loaded and
/// converted once more. Cost: O(steps).
[[nodiscard]] std::optional<PowerAboutMaximum> power_about_maximum(const Expr& expr);

/// The tensor whose elements `tensor` repeats, or picks, through any number of steps.
[[nodiscard]] const TensorView* original_of(const TensorView* tensor);

/// The sum of exponentials whose first step is `step`, if it has an element for each maximum;
/// nullptr: it is none. Only the next step reads a step. Cost: O(steps).
[[nodiscard]] const TensorView* sum_like_maximum(const PowerAboutMaximum& power, const Expr& step);

/// Whether the values are a maximum and the sum of exponentials about it, which are exchanged
/// together (lower/passes/join_cluster_reductions.h): sums are combined about the larger maximum.
[[nodiscard]] bool combines_about_maximum(const ClusterReduction& reduction);

} // namespace nvfuser
