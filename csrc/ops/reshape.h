// Reshape: the elements in row-major order under a new list of sizes.
//
// The merges and splits are made at definition where they do not depend on sizes that are unknown
// then: all sizes are constants, or the new sizes are products of the operand's that can be merged
// and split by constants whatever their values are ([n, m] -> [n * m], [n, 32] -> [n, 4, 8],
// [n, 8] -> [-1], [n, 32] -> [-1, 8]). An unknown size of the operand counts as an ordinary
// dimension, even if it is 1 when the fusion runs.
//
// Every other reshape is dynamic: one ReshapeOp between a copy of the operand's axes and symbolic
// axes of the sizes asked for. transform/concretize.h resolves it once sizes are known.
#pragma once

#include "ir/fusion.h"
#include "ir/shape_exprs.h"
#include "ops/reshape_walk.h"

namespace nvfuser::ops {

/// `arg` under the sizes `new_shape`; one of them may be the constant -1.
TensorView* reshape(TensorView* arg, const std::vector<Val*>& new_shape);

/// The merges and splits are `steps`, for sizes of a run of which it is known that the splits leave
/// no rest. `new_shape`: the sizes that come out.
///   [n] -> [16, ceilDiv(n, 16)] by split(0, 16)
TensorView* reshape(
    TensorView* arg, const std::vector<Val*>& new_shape, const std::vector<ReshapeStep>& steps);
/// Whether a reshape of the operand to the sizes of the result, without steps, makes those of `op`.
[[nodiscard]] bool follows_from_sizes(const ReshapeOp& op);

/// Old spelling: `original_shape` repeats the sizes of `arg`, and both lists say which dimensions
/// are kept. The others have the sizes listed: another operand has another number of elements.
TensorView* reshape(
    TensorView* arg,
    const std::vector<int64_t>& original_shape,
    const std::vector<int64_t>& new_shape);

/// Dimensions start_dim to end_dim, both included, as one.
TensorView* flatten(TensorView* arg, int64_t start_dim = 0, int64_t end_dim = -1);

} // namespace nvfuser::ops
