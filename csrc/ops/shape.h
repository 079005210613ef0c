// The same elements under another shape, without arithmetic on sizes. Reshape has files of its own,
// and so have slice, pad and cat (resize.h).
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// A copy.
Val* set(Val* arg);
inline TensorView* set(TensorView* arg) {
  return static_cast<TensorView*>(set(static_cast<Val*>(arg)));
}
/// A copy that asks for a kernel boundary here.
Val* segment_set(Val* arg);
inline TensorView* segment_set(TensorView* arg) {
  return static_cast<TensorView*>(segment_set(static_cast<Val*>(arg)));
}

/// New dimensions of size one where a flag is true; the others are those of `arg`, in order.
/// `arg` itself if no flag is true.
TensorView* broadcast(TensorView* arg, const std::vector<bool>& is_broadcast_dim);
/// `arg` in the shape `shape`, with its dimension i at position broadcast_dims[i].
TensorView* broadcast_in_dim(
    TensorView* arg, const std::vector<Val*>& shape, const std::vector<int64_t>& broadcast_dims);
/// Dimensions of size one repeated up to `shape`; -1 keeps a dimension, missing leading dimensions
/// are added.
TensorView* expand(TensorView* arg, const std::vector<Val*>& shape);
/// `arg` expanded to the shape of `other`.
TensorView* expand_as(TensorView* arg, TensorView* other);
/// Remove dimensions of size one. `squeeze_expanded`: an expanded one may go as well.
TensorView* squeeze(
    TensorView* arg, const std::vector<int64_t>& dims, bool squeeze_expanded = false);
/// Insert one dimension of size one at `dim` of the result.
TensorView* unsqueeze(TensorView* arg, int64_t dim);

/// Dimension dims[i] of `arg` becomes dimension i.
TensorView* permute(TensorView* arg, const std::vector<int64_t>& dims);
/// Swap two dimensions.
TensorView* transpose(TensorView* arg, int64_t dim0, int64_t dim1);
/// Swap the dimensions of a matrix; a copy for lower ranks.
TensorView* transpose(TensorView* arg);
/// A copy whose dimension i has the stride_order[i]-th smallest stride.
TensorView* stride_order(TensorView* arg, const std::vector<int64_t>& stride_order);
/// Let `tensor`, which is no input and no output yet, be stored like that itself, without a copy.
/// It is a part of the definition; TensorView::set_allocation_domain is a step of a schedule.
void store_in_order(TensorView* tensor, const std::vector<int64_t>& stride_order);

/// Extent of one dimension, expanded if it is; no node.
Val* size(TensorView* arg, int64_t dim);
/// All extents; no node.
std::vector<Val*> shape(TensorView* arg);

/// An integer scalar as an Index, converted if it has another integer type. `role` ("width") names
/// it in errors.
[[nodiscard]] Val* as_index(Val* number, const char* role);
/// A size for an extent.
[[nodiscard]] Val* as_extent(Val* size);
/// Refuse a constant that is less than 0; the error names `node`, whose size it is.
void check_not_negative(const Val* size, const Statement* node);

} // namespace nvfuser::ops
