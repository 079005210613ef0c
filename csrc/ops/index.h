// Elements at positions that another tensor holds.
//
// Positions count from the start of the dimension and are not wrapped: all are in [0, extent).
// docs/decisions.md says how a kernel treats another one: it never touches memory outside of the
// tensor, a read takes the nearest element, a write is left out.
#pragma once

#include <optional>

#include "ir/fusion.h"

namespace nvfuser::ops {

/// out[.., i, ..] = arg[.., index[i], ..]. `index` is [n], or has the rank of `arg` and only
/// broadcasts beside `dim`; without dimensions it selects one position, which stays a dimension.
TensorView* index_select(TensorView* arg, TensorView* index, int64_t dim);
/// arg[.., index, ..] without `dim`; `index` is a scalar or a tensor without dimensions.
TensorView* select(TensorView* arg, Val* index, int64_t dim);
/// out[i, j] = arg[index[i, j], j] for dim 0, in the shape of `index`, whose other dimensions may
/// be smaller than those of `arg`.
TensorView* gather(TensorView* arg, TensorView* index, int64_t dim);
/// The same where all other dimensions agree or are broadcast together.
TensorView* take_along_axis(TensorView* arg, TensorView* index, int64_t dim);

/// A copy of `arg` with out[index[i, j], j] = src[i, j] for dim 0. `src` is a scalar, or a tensor
/// whose dimensions are at least those of `index`. With a combiner, elements are combined with what
/// was there; without, which of several writers of one element wins is not defined.
TensorView* scatter(
    TensorView* arg,
    TensorView* index,
    Val* src,
    int64_t dim,
    std::optional<BinaryOpType> accumulate_op = std::nullopt);
/// A copy of `arg` [rows, ..] with `value` [n, ..] added to the rows `index`, [n] or [n, 1].
TensorView* index_put_accumulate(TensorView* arg, TensorView* index, TensorView* value);

/// Rows of a table and what training does with them, as in PyTorch; nullptr: its default.
struct EmbeddingOptions {
  Val* padding_idx = nullptr;
  Val* max_norm = nullptr;
  Val* norm_type = nullptr;          // 2.0
  Val* scale_grad_by_freq = nullptr; // false
  Val* sparse = nullptr;             // false
};
/// out[.., :] = weight[arg[..], :] for `weight` [rows, columns]. Evaluated; it has no kernel form.
TensorView* embedding_fwd(TensorView* arg, TensorView* weight, const EmbeddingOptions& options);

} // namespace nvfuser::ops
