#include <algorithm>

#include "schedule/common/canonical.h"
#include "schedule/common/global_tensors.h"
#include "schedule/params/transpose_params.h"
#include "schedule/transpose/runs.h"
#include "schedule/transpose/transpose.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule::transpose {
namespace {

/// [.., other, .., inner] -> [tiles, other of a tile, inner of a tile]
void make_tiles(TensorView* reference, const TileAxes& tile, const TransposeParams& params) {
  const auto inner = static_cast<int64_t>(tile.inner);
  const auto other = static_cast<int64_t>(tile.other);
  order_like_memory(reference);
  const int64_t axes = reference->ndims();
  reference->split(inner, params.tile_size1);
  reference->split(other, params.tile_size2); // the outer one: `inner` is 1 further
  std::vector<int64_t> order;
  for (int64_t i = 0; i < axes + 2; ++i) {
    if (i != other + 1 && i != inner + 2) {
      order.push_back(i);
    }
  }
  order.push_back(other + 1);
  order.push_back(inner + 2);
  arrange_axes(reference, order);
  merge_axes(reference, 0, axes);
}

/// The loops that load a tile, and how it lies in shared memory: rows along the other axis, of
/// which the vectors are permuted by the row. `staged` is in shared memory, or what it is read
/// from.
///   [tiles, other, inner] -> [tiles, inner/V, V, other/V ^ inner/V, V] -> [tiles, U, tx, v]
void make_staged(TensorView* staged, int64_t width, const TransposeParams& params) {
  const int64_t lanes = params.vectorize_factor2;
  arrange_axes(staged, {0, 2, 1});
  staged->split(2, lanes);
  staged->split(1, lanes);
  staged->swizzle(1, 3);
  if (staged->memory_type() == MemoryType::Shared) {
    staged->set_allocation_domain(staged->loop(), true);
  }
  if (width < lanes) {
    staged->split(-1, width);
  }
  merge_axes(staged, 1, staged->ndims() - 1);
  staged->split(1, params.lparams.bdimx());
  staged->axis(0)->parallelize(ParallelType::BIDx);
  staged->axis(1)->parallelize(ParallelType::Unroll);
  staged->axis(2)->parallelize(ParallelType::TIDx);
  if (width > 1) {
    staged->axis(-1)->parallelize(ParallelType::Vectorize);
  }
}

/// [tiles, other, inner] -> [tiles, U, tx, V]
void make_threads(TensorView* reference, const TransposeParams& params) {
  reference->split(2, params.vectorize_factor1);
  reference->merge(1, 2);
  reference->split(1, params.lparams.bdimx());
  reference->axis(0)->parallelize(ParallelType::BIDx);
  reference->axis(1)->parallelize(ParallelType::Unroll);
  reference->axis(2)->parallelize(ParallelType::TIDx);
}

/// Accesses along the axis of a side that layouts do not exclude.
std::vector<int64_t> widths_of(
    const FusionSummary& summary, const TileAxes& tile, const TransposeParams& params) {
  if (!params.vector_widths.empty()) {
    check_widths(params.vector_widths, summary.accesses());
    return params.vector_widths;
  }
  std::vector<int64_t> widths;
  for (const TensorAccess& access : summary.accesses()) {
    widths.push_back(
        is_staged(access, tile)                                    ? params.vectorize_factor2
        : has_tile(access, tile) && access.lane_axis == tile.inner ? params.vectorize_factor1
                                                                   : 1);
  }
  return widths;
}

/// Inputs that a tile has rows or columns of, but no elements: their loops would be those of a row,
/// which no thread shares with the others. Readers load them where they need them.
std::vector<TensorView*> inputs_without_tile(
    const std::vector<TensorAccess>& accesses, const TileAxes& tile) {
  std::vector<TensorView*> inputs;
  for (const TensorAccess& access : accesses) {
    if (!access.is_output && !has_tile(access, tile)) {
      inputs.push_back(access.tensor);
    }
  }
  return inputs;
}

/// Inputs that are read where the result is computed: all but those of group 2.
std::vector<TensorView*> inputs_beside(
    const std::vector<TensorAccess>& accesses, const TileAxes& tile) {
  std::vector<TensorView*> inputs;
  for (const TensorAccess& access : accesses) {
    if (!access.is_output && !is_staged(access, tile)) {
      inputs.push_back(access.tensor);
    }
  }
  return inputs;
}

void bind_tile(TensorView* tensor) {
  tensor->axis(0)->parallelize(ParallelType::BIDx);
  tensor->axis(1)->parallelize(ParallelType::Unswitch); // whole tiles have no tests
}

void apply_for_tasks(FusionSummary& summary, const TileAxes& tile, const TransposeParams& params) {
  Fusion& fusion = summary.fusion();
  const std::vector<TensorAccess>& accesses = summary.accesses();
  const std::vector<TensorView*> moved =
      params.copies_rows ? cache_global_tensors(accesses, inputs_beside(accesses, tile))
                         : fork_outputs(accesses);
  TensorView* reference = moved[summary.reference_access()];
  std::vector<TensorView*> copies;
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (params.copies_rows && moved[i] != nullptr && !accesses[i].is_output) {
      copies.push_back(moved[i]);
    }
  }
  make_tiles(reference, tile, params);
  transform::transform_like(reference);
  for (TensorView* copy : copies) {
    arrange_axes(copy, {0, 2, 1}); // along its rows
    bind_tile(copy);
  }
  bind_tile(reference);
  transform::parallelize_like(reference, -1, computed_without(fusion, copies));
  transform::inline_at(reference, 1, /*best_effort=*/true, copies);
  transform::inline_most(fusion, computed_without(fusion, copies));
}

void apply_for_threads(
    FusionSummary& summary, const TileAxes& tile, const TransposeParams& params) {
  Fusion& fusion = summary.fusion();
  const std::vector<TensorAccess>& accesses = summary.accesses();
  const std::vector<int64_t> widths = widths_of(summary, tile, params);
  const std::vector<TensorView*> moved =
      cache_global_tensors(accesses, inputs_without_tile(accesses, tile));
  TensorView* reference = moved[summary.reference_access()];

  std::vector<TensorView*> staged; // in shared memory, and what they are read from
  std::vector<int64_t> widths_of_staged;
  std::vector<TensorView*> loads; // those of group 1 among them
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (moved[i] == nullptr || accesses[i].is_output) {
      continue;
    }
    loads.push_back(moved[i]);
    if (is_staged(accesses[i], tile)) {
      // Through registers: a thread asks for all of its elements before it stores the first, also
      // where a tile is not whole and has tests.
      TensorView* shared = moved[i]->cache_after();
      shared->set_memory_type(MemoryType::Shared);
      static_cast<void>(shared->cache_after()); // elements, out of shared memory
      loads.push_back(shared);
      for (TensorView* tensor : {shared, moved[i]}) {
        staged.push_back(tensor);
        widths_of_staged.push_back(widths[i]);
      }
    }
  }
  make_tiles(reference, tile, params);
  transform::transform_like(reference);
  for (size_t i = 0; i < staged.size(); ++i) {
    make_staged(staged[i], widths_of_staged[i], params);
  }
  make_threads(reference, params);
  const std::vector<TensorView*> others = computed_without(fusion, staged);
  transform::transform_like(reference, others);
  transform::parallelize_like(reference, -1, others);
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (moved[i] != nullptr && std::ranges::find(staged, moved[i]) == staged.end()) {
      vectorize_access(moved[i], widths[i], params.vectorize_factor1);
    }
  }
  transform::inline_at(reference, 1, /*best_effort=*/true, loads);
  transform::inline_most(fusion, computed_without(fusion, loads));
}

} // namespace

void apply(FusionSummary& summary, const HeuristicParams& heuristics) {
  const auto& params = params_as<TransposeParams>(heuristics, SchedulerType::transpose);
  const FusionGuard guard(&summary.fusion());
  if (!params.tile_parts.empty()) {
    apply_in_runs(summary, params);
    return;
  }
  const TileAxes tile = *find_tile_axes(summary);
  params.runs_in_tasks ? apply_for_tasks(summary, tile, params)
                       : apply_for_threads(summary, tile, params);
}

} // namespace nvfuser::schedule::transpose
