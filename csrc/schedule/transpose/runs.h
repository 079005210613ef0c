// Tiles of runs: for tensors whose innermost dimensions are too short for a tile of two dimensions.
//
//   T1[J, I] = permute(T0[I, J]) with 5 columns J      T1[B, J, I, D] = permute(T0[I, J, B, D]), ..
//
// A tile has a part of each dimension: all of the innermost ones, and so much of the next that its
// elements lie in long runs, in the memory of the results as in that of the operands. Operands are
// loaded run by run into shared memory, and results are stored run by run.
#pragma once

#include "schedule/params/transpose_params.h"
#include "schedule/transpose/run_tiles.h"
#include "schedule/transpose/transpose.h"

namespace nvfuser::schedule::transpose {

/// The operands that go through shared memory: they have all dimensions, in another order than the
/// results. Empty if there are none, or if their orders differ, or those of the results.
[[nodiscard]] std::vector<const TensorAccess*> find_reordered(const FusionSummary& summary);

/// Whether innermost dimensions are so short that a tile of runs is better: of a GPU.
[[nodiscard]] bool suits_runs(const FusionSummary& summary, const RunFacts& facts);

/// Params of the tiles and threads. Requires: suits_runs.
void choose_runs(const FusionSummary& summary, const RunFacts& facts, TransposeParams& params);

/// Bytes of an element of the widest tensor that has all dimensions.
[[nodiscard]] int64_t widest_of_all(const FusionSummary& summary);

/// Elements of a tile along a dimension of so many elements.
[[nodiscard]] int64_t elements_of_part(int64_t part, int64_t size);

void apply_in_runs(FusionSummary& summary, const TransposeParams& params);

} // namespace nvfuser::schedule::transpose
