#include <algorithm>
#include <bit>

#include "base/register_file.h"
#include "schedule/common/problem_sizes.h"
#include "schedule/common/vector_widths.h"
#include "schedule/params/transpose_params.h"
#include "schedule/transpose/runs.h"
#include "schedule/transpose/transpose.h"

namespace nvfuser::schedule::transpose {
namespace {

/// On a GPU: bytes of a row of a tile, on both sides; 128 are one line of DRAM's pages.
constexpr int64_t kTileBytes = 256;
constexpr int64_t kThreads = 512;
/// Shared memory of a block, at most: three blocks and more are resident.
constexpr int64_t kMostSharedBytes = 64 * 1024;
/// Width of a bank of shared memory: narrower vectors need not be kept apart.
constexpr int64_t kBankBytes = 4;
constexpr int64_t kSmallestEdge = 32;
/// Larger tiles are worth that many of their elements that lie outside of the tensor.
constexpr double kShareOfLargeTiles = 0.9;
/// On a processor: rows of a tile that are written, of two lines each, and rows that are read, of
/// one. The first cache holds all of them.
constexpr int64_t kTaskColumns = 32;
constexpr int64_t kTaskRows = 16;
/// Rows at such a distance share the places of the first cache, which has about 8 of each. Then
/// fewer are read at a time, and each for longer.
constexpr int64_t kSharedPlaces = 2048;
constexpr int64_t kFewColumns = 16;
constexpr int64_t kMostTaskRows = 256;
/// Where so few columns are less than a line, a task copies more rows instead: half of a line that
/// is written would be gone before the other half comes.
constexpr int64_t kLineBytes = 64;
/// Elements of a row that is copied. They are no power of two: at such a distance g++ would load
/// all that lies between two elements, to pick these out of it.
constexpr int64_t kCopiedRow = 96;
/// Bytes of the rows that are written then: whole lines, which are in no cache.
constexpr int64_t kWrittenRowBytes = 128;
/// Tiles along the other side, at least: the last one is not whole, and has tests.
constexpr int64_t kFewestTiles = 4;

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

/// The widest access of the tensors of group 2, which are staged, or of group 1.
int64_t widest_of_group(
    const FusionSummary& summary,
    const TileAxes& tile,
    const std::vector<int64_t>& widths,
    bool of_staged) {
  int64_t widest = 1;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (is_staged(summary.accesses()[i], tile) == of_staged) {
      widest = std::max(widest, widths[i]);
    }
  }
  return widest;
}

/// How much of the tiles that cover so many elements these fill.
double filled_share(int64_t edge, int64_t inner, int64_t other) {
  const auto covered = static_cast<double>(ceil_div(inner, edge) * edge) *
                       static_cast<double>(ceil_div(other, edge) * edge);
  return static_cast<double>(inner) * static_cast<double>(other) / covered;
}

/// The largest edge, of `largest` and its halves down to `smallest`, of which about as little lies
/// outside of the tensor as of any other.
int64_t well_filled_edge(int64_t largest, int64_t smallest, int64_t inner, int64_t other) {
  double best = 0;
  for (int64_t edge = largest; edge >= smallest; edge /= 2) {
    best = std::max(best, filled_share(edge, inner, other));
  }
  int64_t edge = largest;
  while (edge / 2 >= smallest && filled_share(edge, inner, other) < kShareOfLargeTiles * best) {
    edge /= 2;
  }
  return edge;
}

void choose_for_gpu(
    const FusionSummary& summary,
    const TileAxes& tile,
    const RunFacts& facts,
    TransposeParams& params) {
  const int64_t widest = widest_of_all(summary);
  int64_t staged_bytes = 0; // of one element of each staged tensor
  for (const TensorAccess& access : summary.accesses()) {
    staged_bytes += is_staged(access, tile) ? size_bytes(access.tensor->dtype()) : 0;
  }
  const IterDomains& axes = summary.reference().reference->axes;
  const int64_t inner = std::max<int64_t>(facts.size(axes[tile.inner]->extent()), 1);
  const int64_t other = std::max<int64_t>(facts.size(axes[tile.other]->extent()), 1);
  const int64_t lanes = facts.target().max_vector_bytes / widest;
  int64_t edge = kTileBytes / widest;
  edge = std::min(
      edge, static_cast<int64_t>(
                std::bit_ceil(static_cast<uint64_t>(std::max(std::min(inner, other), lanes)))));
  while (edge > lanes && edge * edge * staged_bytes > kMostSharedBytes) {
    edge /= 2;
  }
  edge = well_filled_edge(edge, std::max(kSmallestEdge, lanes), inner, other);
  params.tile_size1 = params.tile_size2 = edge;
  params.vector_widths = find_widths(summary, tile, facts);
  for (int64_t& width : params.vector_widths) {
    width = std::min(width, lanes);
  }
  // Neighbouring threads have neighbouring accesses: a thread that has more elements than one of
  // its accesses leaves gaps between those of a warp.
  params.vectorize_factor1 = widest_of_group(summary, tile, params.vector_widths, false);
  params.vectorize_factor2 = std::max(
      {params.vectorize_factor1, widest_of_group(summary, tile, params.vector_widths, true),
       std::max<int64_t>(kBankBytes / widest, 1)});
  const int64_t threads = std::min(kThreads, edge * edge / lanes);
  params.lparams.bind(ParallelType::TIDx, threads);
  // While one block of a multiprocessor loads its tile, another stores.
  const Target& target = facts.target();
  params.cparams.maxrregcount =
      registers_of_thread(target, target.registers_per_sm, threads, /*blocks=*/2);
}

/// Columns of a tile whose rows a task copies; 0: it gains nothing by copies, or has no room.
int64_t columns_of_copies(
    const FusionSummary& summary, const TileAxes& tile, const RunFacts& facts) {
  int64_t bytes = 0; // of an element of each copy
  int64_t widest = 1;
  for (const TensorAccess& access : summary.accesses()) {
    if (is_staged(access, tile)) {
      const int64_t of_element = size_bytes(access.tensor->dtype());
      bytes += of_element;
      widest = std::max(widest, of_element);
    }
  }
  if (kFewColumns * widest >= kLineBytes) {
    return 0;
  }
  int64_t columns = kWrittenRowBytes / widest;
  if (columns * kCopiedRow * bytes > facts.target().max_local_bytes) {
    columns /= 2;
  }
  const IterDomains& axes = summary.reference().reference->axes;
  const bool fits = columns * kCopiedRow * bytes <= facts.target().max_local_bytes &&
                    facts.size(axes[tile.inner]->extent()) >= kFewestTiles * columns &&
                    facts.size(axes[tile.other]->extent()) >= kFewestTiles * kCopiedRow;
  return fits ? columns : 0;
}

void choose_for_processor(
    const FusionSummary& summary,
    const TileAxes& tile,
    const RunFacts& facts,
    TransposeParams& params) {
  params.runs_in_tasks = true;
  params.tile_size1 = kTaskColumns;
  params.tile_size2 = kTaskRows;
  const int64_t length = facts.size(summary.reference().reference->axes[tile.other]->extent());
  const bool share_places =
      std::ranges::any_of(summary.accesses(), [&](const TensorAccess& access) {
        const int64_t bytes = length * size_bytes(access.tensor->dtype());
        return is_staged(access, tile) && bytes % kSharedPlaces == 0;
      });
  if (!share_places) {
    return;
  }
  if (const int64_t columns = columns_of_copies(summary, tile, facts); columns > 0) {
    params.copies_rows = true;
    params.tile_size1 = columns;
    params.tile_size2 = kCopiedRow;
    return;
  }
  const auto longest = static_cast<int64_t>(
      std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(length / kFewestTiles, 1))));
  params.tile_size1 = kFewColumns;
  params.tile_size2 = std::clamp(longest, kTaskRows, kMostTaskRows);
}

int64_t count_blocks(
    const FusionSummary& summary, const RunFacts& facts, const TransposeParams& params) {
  int64_t blocks = 1;
  const IterDomains& axes = summary.reference().reference->axes;
  const std::optional<TileAxes> tile = find_tile_axes(summary);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t size = facts.size(axes[i]->extent());
    const int64_t part = !params.tile_parts.empty() ? elements_of_part(params.tile_parts[i], size)
                         : i == tile->inner         ? params.tile_size1
                         : i == tile->other         ? params.tile_size2
                                                    : 1;
    blocks *= ceil_div(size, std::max<int64_t>(part, 1));
  }
  return blocks;
}

} // namespace

double share_in_tiles(int64_t inner, int64_t other) {
  constexpr int64_t kEdge = 64;
  return filled_share(kEdge, inner, other);
}

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  auto params = std::make_unique<TransposeParams>();
  if (suits_runs(summary, facts)) {
    choose_runs(summary, facts, *params);
  } else {
    const TileAxes tile = *find_tile_axes(summary);
    facts.target().is_cuda() ? choose_for_gpu(summary, tile, facts, *params)
                             : choose_for_processor(summary, tile, facts, *params);
  }
  params->lparams.bind(ParallelType::BIDx, count_blocks(summary, facts, *params));
  return params;
}

} // namespace nvfuser::schedule::transpose
