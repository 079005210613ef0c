// Boxes that the blocks of a cluster load together.
//
// Where a box is the same for all blocks of a cluster, each of them loads a part of it and sends it
// to all: the box is read once from global memory, and each block has all of it. A schedule says so
// with an axis of the box that is a broadcast, and bound to clustered blocks:
//
//   [.., b clustered grid_x, 128 tma, 64 tma]        2 blocks in a cluster
//
//   block 0 of the cluster                    block 1
//   load rows 0 .. 63                         load rows 64 .. 127
//        '------> stage of block 0 <-----------------'
//        '------> stage of block 1 <-----------------'
//
// All blocks write to a stage of each. So it is empty when the readers of all blocks have handed
// theirs back, and full when the parts of all blocks have arrived.
//
// The second factor of a product that two blocks compute together is such a box, of which each
// block loads its part and keeps it: the instruction reads both (lower/analysis/tcgen05.h).
//
// On a target without bulk copies each block copies its own box.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

struct TensorMap;

/// Blocks that load the box `copy` together; 1: each block loads its own.
[[nodiscard]] int64_t loading_blocks(const Kernel& kernel, const TensorView* copy);
/// The most blocks that load a box of the kernel together.
[[nodiscard]] int64_t loading_blocks(const Kernel& kernel);

/// Whether the box `copy` is the same for all blocks of a cluster, as its axes say.
[[nodiscard]] bool is_same_in_cluster(const TensorView* copy);
/// Blocks that have a part of the box `copy` each, in memory of their own; 1: each has all of it.
[[nodiscard]] int64_t keeping_blocks(const Kernel& kernel, const TensorView* copy);

/// A block's part of a box that `blocks` of them load together: a part of its outermost axis.
struct PartOfBox {
  size_t dim = 0;       // axis of the map that is divided
  int64_t extent = 0;   // of the part along it
  int64_t elements = 0; // of the part
};
[[nodiscard]] PartOfBox part_of_box(const TensorMap& map, int64_t blocks);

/// Say why the blocks of a cluster cannot load a box together, on any target. Nothing to say about
/// boxes without an axis that is bound to clustered blocks.
/// Requires: loops, circular loops, sizes of clusters.
[[nodiscard]] std::optional<Refusal> find_wrong_sharing(
    const Kernel& kernel, const TensorView* copy, const TensorMap& map);

} // namespace nvfuser
