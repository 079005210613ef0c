// Inlining: computing a tensor inside the loops of its consumers.
//
// A compute-at position of p says that the p outer loop axes of a tensor are driven by loops of all
// its consumers. Consumers then have a produce position: the number of their outer axes inside
// which a producer is computed. Siblings have the same positions. `TensorView::inline_at` and
// `TensorView::clear_compute_position` are defined here as well.
//
// Positions never go back by inlining; clear_compute_position undoes. Inlining a tensor that
// nothing reads changes nothing.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/refusal.h"
#include "ir/fusion.h"

namespace nvfuser::transform {

/// The deepest position at which `tensor` and its siblings may be inlined
/// (transform/inline_limits.h), the others being where they are.
[[nodiscard]] int64_t max_inline_position(TensorView* tensor);

/// Inline all tensors, or the selected ones, as deep as is legal; nothing is inlined into or past
/// the axes of `uninlinable`.
/// Cost: O(n log n) in tensors.
void inline_most(
    Fusion& fusion,
    const std::vector<TensorView*>& selected_tensors = {},
    const std::vector<IterDomain*>& uninlinable = {});
/// In the active fusion.
void inline_most(const std::vector<TensorView*>& selected_tensors = {});

/// Inline all tensors, or the selected ones, at the deepest position whose axes all correspond to
/// the first `pos` axes of `reference` (negative: counted from the end, -1 = all). `best_effort`
/// stops where the limit is; else a position beyond it is an error.
void inline_at(
    TensorView* reference,
    int64_t pos = -1,
    bool best_effort = false,
    const std::vector<TensorView*>& selected_tensors = {});
/// The same; the error is a refusal, and then nothing is changed.
[[nodiscard]] std::optional<Refusal> try_inline_at(
    TensorView* reference,
    int64_t pos = -1,
    bool best_effort = false,
    const std::vector<TensorView*>& selected_tensors = {});

/// Inline each tensor at the position that stands beside it, as `TensorView::inline_at` does one
/// after the other. A position beyond the limit is an error, and then nothing is changed.
/// Cost: that of inlining one of them.
void inline_each_at(const std::vector<std::pair<TensorView*, int64_t>>& positions);
/// The same; the error is a refusal.
[[nodiscard]] std::optional<Refusal> try_inline_each_at(
    const std::vector<std::pair<TensorView*, int64_t>>& positions);

/// Undo all inlining.
void reset_inlining(Fusion& fusion);

} // namespace nvfuser::transform
