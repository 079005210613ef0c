#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// On a target without hardware threads, put loops over threads and blocks around the regions that
/// need no other thread (or block).
///   before:  FOR i: { T1_s[tx] = T0[..];  BLOCKSYNC;  T2[..] = T1_s[63 - tx] + T3[..] }
///   after:   FOR i: { THREADS: T1_s[tx] = T0[..]      THREADS: T2[..] = T1_s[63 - tx] + T3[..] }
/// A region is a maximal run of statements between two points that need all threads: barriers and
/// reductions over threads. Loops and conditions that contain such a point stay outside. Registers
/// that live in several regions get one element per thread; those that live in several phases
/// (regions of the grid) get one per block as well.
/// Where blocks form clusters, a region of the grid holds whole clusters: loops over the blocks of
/// a cluster stand in it, around the regions between barriers over the cluster. Loops that all
/// threads (blocks) run alike are run by the first one, whose registers serve all; a serial loop
/// that contains such a loop, and more, stands outside of both (lower/analysis/common_work.h). A
/// reduction over blocks becomes: store the partial result, end the phase, combine in order; one
/// over a cluster likewise (lower/passes/expand_cluster_reductions.h).
/// Requires: conditions placed.
/// Ensures:  every statement that depends on a thread (block) index is in a ThreadLoop (BlockLoop);
///           no GridSync is left, and every BlockSync stands between thread loops.
void form_regions(Kernel& kernel);

} // namespace nvfuser
