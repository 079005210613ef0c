// The nodes of a reshape whose walk is known: SqueezeOp, ReshapeOp with merges and splits,
// BroadcastOp. A layer with nothing to do has no node.
#pragma once

#include <vector>

#include "ir/fusion.h"
#include "ir/shape_exprs.h"
#include "ops/reshape_walk.h"

namespace nvfuser::ops {

/// `arg` after the squeezes, transforms and broadcasts of `walk`; `arg` itself if there are none.
/// `new_shape`: sizes of the result; an axis takes the given expression where it equals its own.
[[nodiscard]] TensorView* apply_walk(
    TensorView* arg, const ReshapeWalk& walk, const std::vector<Val*>& new_shape);

/// The merges and splits of a reshape, in the order in which a walk makes them. Empty: it is
/// dynamic.
[[nodiscard]] std::vector<ReshapeStep> steps_of(const ReshapeOp& op);

/// [.., n, ..] -> [.., n / factor, factor, ..]. Requires: `factor` divides the dimension.
[[nodiscard]] TensorView* split_dim(TensorView* arg, int64_t position, int64_t factor);

/// Remove dimensions of size one. Unlike `squeeze`, also ordinary ones, whose size only the caller
/// knows: a shape without dimensions has no other that could take them in. `squeeze_expanded`: one
/// whose size is not known yet may come out as repeated instead.
[[nodiscard]] TensorView* squeeze_ones(
    TensorView* arg, const std::vector<int64_t>& dims, bool squeeze_expanded = false);

/// For every dimension of the result the dimension of the operand that it is unchanged; -1: none.
[[nodiscard]] std::vector<int64_t> kept_dims(size_t old_rank, const ReshapeWalk& walk);

} // namespace nvfuser::ops
