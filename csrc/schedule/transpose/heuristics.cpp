#include <algorithm>
#include <bit>

#include "base/register_file.h"
#include "schedule/common/vector_widths.h"
#include "schedule/params/transpose_params.h"
#include "schedule/transpose/transpose.h"

namespace nvfuser::schedule::transpose {
namespace {

/// On a GPU: bytes of a row of a tile, on both sides; 128 are one line of DRAM's pages.
constexpr int64_t kTileBytes = 256;
constexpr int64_t kThreads = 512;
/// Shared memory of a block, at most: three blocks and more are resident.
constexpr int64_t kMostSharedBytes = 64 * 1024;
/// On a processor: rows of a tile that are written, of two lines each, and rows that are read, of
/// one. The first cache holds all of them.
constexpr int64_t kTaskColumns = 32;
constexpr int64_t kTaskRows = 16;
/// Rows at such a distance share the places of the first cache, which has about 8 of each. Then
/// fewer are read at a time, and each for longer.
constexpr int64_t kSharedPlaces = 2048;
constexpr int64_t kFewColumns = 16;
constexpr int64_t kMostTaskRows = 256;
/// Tiles along the other side, at least: the last one is not whole, and has tests.
constexpr int64_t kFewestTiles = 4;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Widths of accesses: along the inner axis, for staged tensors along the other one.
std::vector<int64_t> find_widths(
    const FusionSummary& summary, const TileAxes& tile, const RunFacts& facts) {
  std::vector<int64_t> widths;
  for (const TensorAccess& access : summary.accesses()) {
    const bool is_along =
        has_tile(access, tile) && (is_staged(access, tile) || access.lane_axis == tile.inner);
    widths.push_back(is_along ? widest_access(access, access.lane_run, facts) : 1);
  }
  return widths;
}

void choose_for_gpu(
    const FusionSummary& summary,
    const TileAxes& tile,
    const RunFacts& facts,
    TransposeParams& params) {
  int64_t widest = 1;       // bytes
  int64_t staged_bytes = 0; // of one element of each staged tensor
  for (const TensorAccess& access : summary.accesses()) {
    const int64_t bytes = size_bytes(access.tensor->dtype());
    widest = access.has_all_axes ? std::max(widest, bytes) : widest;
    staged_bytes += is_staged(access, tile) ? bytes : 0;
  }
  const IterDomains& axes = summary.reference().reference->axes;
  const int64_t shorter =
      std::min(facts.size(axes[tile.inner]->extent()), facts.size(axes[tile.other]->extent()));
  const int64_t lanes = facts.target().max_vector_bytes / widest;
  int64_t edge = kTileBytes / widest;
  edge = std::min(
      edge, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(shorter, lanes)))));
  while (edge > lanes && edge * edge * staged_bytes > kMostSharedBytes) {
    edge /= 2;
  }
  params.tile_size1 = params.tile_size2 = edge;
  params.vectorize_factor1 = params.vectorize_factor2 = lanes;
  params.vector_widths = find_widths(summary, tile, facts);
  for (int64_t& width : params.vector_widths) {
    width = std::min(width, lanes);
  }
  const int64_t threads = std::min(kThreads, edge * edge / lanes);
  params.lparams.bind(ParallelType::TIDx, threads);
  // While one block of a multiprocessor loads its tile, another stores.
  const Target& target = facts.target();
  params.cparams.maxrregcount =
      registers_of_thread(target, target.registers_per_sm, threads, /*blocks=*/2);
}

void choose_for_processor(
    const FusionSummary& summary,
    const TileAxes& tile,
    const RunFacts& facts,
    TransposeParams& params) {
  const int64_t length = facts.size(summary.reference().reference->axes[tile.other]->extent());
  const bool share_places =
      std::ranges::any_of(summary.accesses(), [&](const TensorAccess& access) {
        const int64_t bytes = length * size_bytes(access.tensor->dtype());
        return is_staged(access, tile) && bytes % kSharedPlaces == 0;
      });
  const auto longest = static_cast<int64_t>(
      std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(length / kFewestTiles, 1))));
  params.runs_in_tasks = true;
  params.tile_size1 = share_places ? kFewColumns : kTaskColumns;
  params.tile_size2 = share_places ? std::clamp(longest, kTaskRows, kMostTaskRows) : kTaskRows;
}

} // namespace

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  auto params = std::make_unique<TransposeParams>();
  const TileAxes tile = *find_tile_axes(summary);
  facts.target().is_cuda() ? choose_for_gpu(summary, tile, facts, *params)
                           : choose_for_processor(summary, tile, facts, *params);
  int64_t blocks = 1;
  const IterDomains& axes = summary.reference().reference->axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t size = facts.size(axes[i]->extent());
    blocks *= i == tile.inner   ? ceil_div(size, params->tile_size1)
              : i == tile.other ? ceil_div(size, params->tile_size2)
                                : size;
  }
  params->lparams.bind(ParallelType::BIDx, blocks);
  return params;
}

} // namespace nvfuser::schedule::transpose
