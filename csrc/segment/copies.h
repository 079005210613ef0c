// Copies: what is cheap is computed in every group that reads it, instead of being stored by one
// and loaded by the others. Casts, chains of cheap operations on inputs, constants. Pads stand with
// the cats that read them, at any price.
#pragma once

#include <vector>

#include "segment/partition.h"

namespace nvfuser::segment {

/// Compute the results of cheap expressions where they are read, if that moves fewer bytes: storing
/// and loading a tensor against loading what it is computed from. Random operations, reductions and
/// what a library computes stay where they are. Groups that nothing is left of are removed.
/// Requires: groups in an order in which they can run; that order stands. `provided`: results that
/// are needed outside of these groups (ascending).
/// Cost: linear in edges * groups that read a tensor.
void compute_where_read(
    const Flow& flow,
    const Facts& facts,
    const HardEdges& hard,
    std::span<const TensorId> provided,
    std::vector<Group>& groups);

} // namespace nvfuser::segment
