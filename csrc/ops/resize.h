// A part of a tensor, a tensor with a border, tensors one behind the other.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// The elements with start <= position < stop in each dimension. Negative positions count from the
/// end, all are clipped to the dimension; with `manual_normalization` only a stop is clipped, and
/// only where its start is 0; without `clip_ends` none is. `strides` are 1; empty: all of them.
TensorView* slice(
    TensorView* arg,
    const std::vector<Val*>& start_indices,
    const std::vector<Val*>& end_indices,
    const std::vector<Val*>& strides = {},
    bool manual_normalization = false,
    bool clip_ends = true);
/// Whether a slice with the positions of `op` and `manual_normalization` has other ends, which are
/// clipped.
[[nodiscard]] bool would_clip_ends(const SliceOp& op);

/// `arg` surrounded by `value`. `pad_widths`: left and right of each dimension, the innermost
/// dimension first; a negative width cuts off. nullptr: zero.
TensorView* pad(TensorView* arg, const std::vector<Val*>& pad_widths, Val* value = nullptr);

/// The tensors one behind the other along `dim`. `manual_padding`: each is the result of a pad to
/// the full extent already.
TensorView* cat(
    const std::vector<TensorView*>& tensors, int64_t dim = 0, bool manual_padding = false);

/// At most `chunks` parts of equal extent along `dim`; the last one may be smaller. The extent is
/// constant.
std::vector<TensorView*> chunk(TensorView* arg, int64_t chunks, int64_t dim = 0);

/// `arg` repeats[i] times along dimension i.
TensorView* repeat(TensorView* arg, const std::vector<int64_t>& repeats);

/// Real and imaginary part of complex elements along a new last dimension of size 2.
TensorView* view_as_real(TensorView* arg);

} // namespace nvfuser::ops
