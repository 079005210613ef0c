// Propagation: replay the transforms of one tensor on many.
//
// Every tensor takes its transforms along the maximum-information spanning tree
// (transform/spanning_tree.h). New domains and parallel types are computed for all tensors first
// and assigned at the end: an error leaves the fusion as it was.
#pragma once

#include <optional>
#include <vector>

#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser::transform {

/// Replay the loop transforms of `reference` on all tensors that can be reached from it, or only on
/// `selected_tensors`; the way to a selected tensor may lead through others, which stay as they
/// are.
///   before:  c[i0]          b[b1, i0]             t[i1/4, 4, i0/8, 8]
///   after:   c[i0/8, 8]     b[b1/4, 4, i0/8, 8]   t[i1/4, 4, i0/8, 8]
/// A tensor whose outer axes match already is left alone.
void transform_like(TensorView* reference, const std::vector<TensorView*>& selected_tensors = {});

/// Replay the first `pos` axes of `from` (negative: counted from the end, -1 = all) on every tensor
/// strictly between `to`, upstream, and `from`. Without `to`: on all that `from` is computed from,
/// except the inputs of the fusion. With `propagate_parallel_type` the mapped axes take the
/// parallel types, and warp padding, of these `pos` axes.
void bounded_transform_backward(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& to,
    bool propagate_parallel_type = false);

/// The same downstream; without `to`: on all that is computed from `from`.
void bounded_transform_forward(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& to,
    bool propagate_parallel_type = false);

/// Backward to `backward_to` and forward to `forward_to`.
void bounded_transform_both(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& backward_to,
    const std::vector<TensorView*>& forward_to,
    bool propagate_parallel_type = false);

// The same; the error is a refusal, and then nothing is changed.
[[nodiscard]] std::optional<Refusal> try_transform_like(
    TensorView* reference, const std::vector<TensorView*>& selected_tensors = {});
[[nodiscard]] std::optional<Refusal> try_bounded_transform_backward(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& to,
    bool propagate_parallel_type = false);
[[nodiscard]] std::optional<Refusal> try_bounded_transform_forward(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& to,
    bool propagate_parallel_type = false);
[[nodiscard]] std::optional<Refusal> try_bounded_transform_both(
    TensorView* from,
    int64_t pos,
    const std::vector<TensorView*>& backward_to,
    const std::vector<TensorView*>& forward_to,
    bool propagate_parallel_type = false);

} // namespace nvfuser::transform
