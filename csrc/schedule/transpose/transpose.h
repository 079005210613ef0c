// The scheduler `transpose`: maps whose operands are contiguous along another dimension than the
// result.
//
//   T1[J, I] = permute(T0[I, J])      group 1: T1, innermost I      group 2: T0, innermost J
//
// A block computes a tile of both dimensions. Tensors of group 2 go through shared memory: they are
// loaded in vectors along their own dimension, and taken out along the other one. Rows of the tile
// are swizzled, so that neither side meets bank conflicts. A task of a processor reads them in
// place, or copies what it needs of them into an array of its own, where rows share places of a
// cache.
#pragma once

#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& transpose_scheduler();

namespace transpose {

/// The dimensions of a tile, as positions among the axes of the reference.
struct TileAxes {
  size_t inner = 0; // of group 1: the innermost one
  size_t other = 0; // of group 2
};

/// Empty: no operand is contiguous along another axis.
[[nodiscard]] std::optional<TileAxes> find_tile_axes(const FusionSummary& summary);
/// Whether a tensor has both dimensions of a tile. If not, all rows, or all columns, of a tile need
/// the same elements of it.
[[nodiscard]] bool has_tile(const TensorAccess& access, const TileAxes& tile);
/// Whether a tensor is read along the other axis, and goes through shared memory.
[[nodiscard]] bool is_staged(const TensorAccess& access, const TileAxes& tile);

/// How much of the tiles of a GPU that cover two dimensions of such sizes these fill: of tiles that
/// are large enough for the memory.
[[nodiscard]] double share_in_tiles(int64_t inner, int64_t other);

[[nodiscard]] std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary);
[[nodiscard]] std::optional<Refusal> find_refusal_by_size(
    const FusionSummary& summary, const RunFacts& facts);
[[nodiscard]] std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts);
[[nodiscard]] KernelFigures find_figures(
    const FusionSummary& summary, const HeuristicParams& params, const RunFacts& facts);
void apply(FusionSummary& summary, const HeuristicParams& params);

} // namespace transpose
} // namespace nvfuser::schedule
