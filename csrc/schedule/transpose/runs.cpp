#include "schedule/transpose/runs.h"

#include <algorithm>
#include <bit>

#include "schedule/common/canonical.h"
#include "schedule/common/fixed_sizes.h"
#include "schedule/common/global_tensors.h"
#include "schedule/common/staged_rows.h"
#include "schedule/common/vector_widths.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule::transpose {
namespace {

using Order = std::vector<size_t>; // of axes of the reference, outermost first

/// Shorter runs than a sector waste what memory fetches.
constexpr int64_t kSectorBytes = 32;
/// Shorter dimensions fill too little of a tile of two.
constexpr int64_t kShortestSide = 16;
/// Bytes of a run, at least: a line.
constexpr int64_t kRunBytes = 128;
/// Bytes of a tile of one tensor: several blocks of a multiprocessor have one each.
constexpr int64_t kTileBytes = 16 * 1024;
constexpr int64_t kMostSharedBytes = 64 * 1024;
/// Where so much of the tiles of two dimensions lies outside of the tensor, only small ones would
/// fill their threads. Parts of a tile of runs need not be powers of two; they are made for short
/// dimensions.
constexpr double kLeastShareInTiles = 0.75;
constexpr int64_t kShortestInTiles = 33;
constexpr int64_t kLongestInParts = 256;
/// Bytes of a tile that has all of two dimensions, at most.
constexpr int64_t kMostWholeBytes = 32 * 1024;

std::vector<int64_t> sizes_of(const FusionSummary& summary, const RunFacts& facts) {
  std::vector<int64_t> sizes;
  for (const IterDomain* axis : summary.reference().reference->axes) {
    sizes.push_back(facts.size(axis->extent()));
  }
  return sizes;
}

Order order_of_results(const FusionSummary& summary) {
  const IterDomains& axes = summary.reference().reference->axes;
  Order order;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (!axes[axis]->is_broadcast()) {
      order.push_back(axis);
    }
  }
  return order;
}

/// Without axes of one element, which lie anywhere.
Order longer_than_one(Order order, const std::vector<int64_t>& sizes) {
  std::erase_if(order, [&](size_t axis) { return sizes[axis] == 1; });
  return order;
}

/// The parts of a tile, grown from nothing.
class Parts {
 public:
  explicit Parts(std::vector<int64_t> sizes) : sizes_(std::move(sizes)), parts_(sizes_.size(), 1) {}

  /// So much of the innermost axes that `wanted` elements lie side by side.
  void cover(const Order& order, int64_t wanted) {
    int64_t run = 1;
    for (auto axis = order.rbegin(); axis != order.rend() && run < wanted; ++axis) {
      take(
          *axis,
          static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>((wanted + run - 1) / run))));
      run *= parts_[*axis];
      if (!is_whole(*axis)) {
        return;
      }
    }
  }

  /// Twice as much of the first axis that ends a run. False: there is none.
  bool grow(const Order& order) {
    const auto axis = std::find_if(
        order.rbegin(), order.rend(), [&](size_t position) { return !is_whole(position); });
    if (axis == order.rend()) {
      return false;
    }
    take(*axis, 2 * parts_[*axis]);
    return true;
  }

  [[nodiscard]] int64_t run(const Order& order) const {
    int64_t length = 1;
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
      length *= parts_[*axis];
      if (!is_whole(*axis)) {
        break;
      }
    }
    return length;
  }
  [[nodiscard]] int64_t elements() const {
    int64_t product = 1;
    for (const int64_t part : parts_) {
      product *= part;
    }
    return product;
  }
  [[nodiscard]] const std::vector<int64_t>& parts() const {
    return parts_;
  }

 private:
  [[nodiscard]] bool is_whole(size_t axis) const {
    return parts_[axis] == sizes_[axis];
  }
  /// All of an axis rather than a part that leaves less than another one.
  void take(size_t axis, int64_t part) {
    parts_[axis] = 2 * part > sizes_[axis] ? sizes_[axis] : std::max(parts_[axis], part);
  }

  std::vector<int64_t> sizes_;
  std::vector<int64_t> parts_;
};

/// The parts that a tile begins with: runs of a line and more on both sides.
std::vector<int64_t> first_tile(
    const std::vector<int64_t>& sizes,
    const Order& results,
    const Order& operands,
    int64_t element_bytes,
    int64_t staged_bytes) {
  Parts parts(sizes);
  parts.cover(results, kRunBytes / element_bytes);
  parts.cover(operands, kRunBytes / element_bytes);
  while (parts.elements() * element_bytes < kTileBytes &&
         2 * parts.elements() * staged_bytes <= kMostSharedBytes) {
    const bool is_operand = parts.run(operands) < parts.run(results);
    if (!parts.grow(is_operand ? operands : results) &&
        !parts.grow(is_operand ? results : operands)) {
      break;
    }
  }
  return parts.parts();
}

/// [a, b, c] -> [tiles, a of a tile, b of a tile, c of a tile]. Broadcasts, which an operand may
/// lack, and dimensions of which a tile has one element, are merged into the tiles.
void make_tiles(TensorView* reference, const std::vector<int64_t>& parts) {
  order_like_memory(reference);
  std::vector<int64_t> tiles;
  std::vector<int64_t> elements;
  int64_t at = 0;
  for (const int64_t part : parts) {
    if (reference->axis(at)->is_broadcast() || part == 1) {
      tiles.push_back(at++);
      continue;
    }
    if (part > 0) {
      reference->split(at, part);
      tiles.push_back(at++);
    }
    elements.push_back(at++);
  }
  const auto num_tiled = static_cast<int64_t>(tiles.size());
  tiles.insert(tiles.end(), elements.begin(), elements.end());
  arrange_axes(reference, tiles);
  merge_axes(reference, 0, num_tiled);
}

/// [tiles, ..] -> [tiles, steps, U, tx, V]: neighbouring threads have neighbouring vectors.
void deal_to_threads(TensorView* tensor, int64_t lanes, const TransposeParams& params) {
  merge_axes(tensor, 1, tensor->ndims());
  if (lanes > 1) {
    tensor->split(-1, lanes);
  }
  tensor->split(1, params.lparams.bdimx());
  tensor->split(1, std::max<int64_t>(params.elements_ahead / lanes, 1));
  tensor->axis(0)->parallelize(ParallelType::BIDx);
  tensor->axis(2)->parallelize(ParallelType::Unroll);
  tensor->axis(3)->parallelize(ParallelType::TIDx);
}

/// The loops that load a tile, in the order of its memory.
void make_staged(
    TensorView* staged,
    const Order& memory_order,
    const Order& results,
    int64_t width,
    const TransposeParams& params) {
  std::vector<int64_t> position(params.tile_parts.size(), 0); // 0: among the tiles
  int64_t loops = 1;
  for (const size_t axis : results) {
    position[axis] = params.tile_parts[axis] == 1 ? 0 : loops++;
  }
  std::vector<int64_t> order = {0};
  for (const size_t axis : memory_order) {
    if (position[axis] > 0) {
      order.push_back(position[axis]);
    }
  }
  arrange_axes(staged, order);
  deal_to_threads(staged, width, params);
  if (width > 1) {
    staged->axis(-1)->parallelize(ParallelType::Vectorize);
  }
}

void check_parts(const TransposeParams& params, size_t num_axes) {
  const bool is_tiled =
      std::ranges::any_of(params.tile_parts, [](int64_t part) { return part > 0; });
  if (params.tile_parts.size() == num_axes && is_tiled) {
    return;
  }
  throw UserError(
      {.headline = "tile_parts has a part of each dimension",
       .node = Part::none(),
       .expected = {num_axes, " numbers, of which one is not 0"},
       .found = {params.tile_parts.size(), " numbers", is_tiled ? "" : ", all 0"},
       .fix = "change the params that compute_heuristics returns"});
}

/// The tensor that the tile of an operand is copied into past registers. Null: the operand is
/// loaded as all others are.
TensorView* copy_past_registers(
    const TensorAccess& access, int64_t width, const TransposeParams& params) {
  if (!params.copies_past_registers || !schedule::is_staged(access, width)) {
    return nullptr;
  }
  return access.tensor->cache_after(
      LoadStoreOpType::CpAsync, CacheOp::Unspecified, true, access.elementwise_uses);
}

/// The widest vectors of a tensor that lie in a tile with such parts: through all dimensions that
/// the tile has all of, and the part of the next one.
int64_t width_in_tile(
    const TensorAccess& access,
    const IterDomains& axes,
    const std::vector<int64_t>& parts,
    const RunFacts& facts) {
  int64_t elements = 1;
  size_t in_run = 0;
  for (auto axis = access.memory_order.rbegin();
       axis != access.memory_order.rend() && in_run < access.memory_runs.size(); ++axis) {
    if (parts[*axis] == 1) {
      break; // among the tiles
    }
    elements *= parts[*axis];
    ++in_run;
    if (parts[*axis] != facts.size(axes[*axis]->extent()) || !may_be_fixed(axes[*axis])) {
      break;
    }
  }
  if (in_run == 0 || access.is_lookup() || !access.has_all_axes) {
    return 1;
  }
  const int64_t width = widest_access(access, access.memory_runs[in_run - 1], facts);
  return std::min(width, elements & -elements);
}

/// Whether a tile has all of both dimensions, which no widest vectors divide: tiles of two
/// dimensions would be filled in part, and each of their rows would begin at another place of a
/// line.
bool are_odd_and_whole(int64_t rows, int64_t columns, int64_t bytes, const RunFacts& facts) {
  const int64_t vector = facts.target().max_vector_bytes;
  return rows * columns * bytes <= kMostWholeBytes && rows * bytes % vector != 0 &&
         columns * bytes % vector != 0;
}

} // namespace

int64_t widest_of_all(const FusionSummary& summary) {
  int64_t widest = 1;
  for (const TensorAccess& access : summary.accesses()) {
    widest = access.has_all_axes ? std::max(widest, size_bytes(access.tensor->dtype())) : widest;
  }
  return widest;
}

int64_t elements_of_part(int64_t part, int64_t size) {
  return part == 0 ? size : part;
}

std::vector<const TensorAccess*> find_reordered(const FusionSummary& summary) {
  const IterDomains& axes = summary.reference().reference->axes;
  const Order results = order_of_results(summary);
  std::vector<const TensorAccess*> reordered;
  for (const TensorAccess& access : summary.accesses()) {
    if (access.is_lookup() || (!access.is_output && !access.has_all_axes)) {
      continue; // read where it is needed
    }
    const IterDomains own = TensorDomain::no_reductions(access.tensor->logical());
    if (access.memory_order.size() != results.size() || own.size() > axes.size()) {
      return {};
    }
    if (access.memory_order == results) {
      continue;
    }
    const bool is_first = reordered.empty();
    if (access.is_output || (!is_first && access.memory_order != reordered.front()->memory_order)) {
      return {};
    }
    reordered.push_back(&access);
  }
  return reordered;
}

bool suits_runs(const FusionSummary& summary, const RunFacts& facts) {
  const std::vector<const TensorAccess*> reordered = find_reordered(summary);
  if (reordered.empty() || !facts.target().is_cuda()) {
    return false;
  }
  const std::vector<int64_t> sizes = sizes_of(summary, facts);
  const Order results = longer_than_one(order_of_results(summary), sizes);
  const Order operands = longer_than_one(reordered.front()->memory_order, sizes);
  if (results == operands) {
    return false;
  }
  int64_t common = size_bytes(reordered.front()->tensor->dtype());
  for (size_t i = 1; results[results.size() - i] == operands[operands.size() - i]; ++i) {
    common *= sizes[results[results.size() - i]];
  }
  if (results.back() == operands.back()) {
    return common < kSectorBytes;
  }
  const int64_t rows = sizes[results.back()];
  const int64_t columns = sizes[operands.back()];
  const bool are_short =
      std::min(rows, columns) >= kShortestInTiles && std::max(rows, columns) <= kLongestInParts;
  return std::min(rows, columns) < kShortestSide ||
         are_odd_and_whole(rows, columns, common, facts) ||
         (are_short && share_in_tiles(rows, columns) < kLeastShareInTiles);
}

void choose_runs(const FusionSummary& summary, const RunFacts& facts, TransposeParams& params) {
  const IterDomains& axes = summary.reference().reference->axes;
  const std::vector<const TensorAccess*> reordered = find_reordered(summary);
  const Order results = order_of_results(summary);
  const Order& operands = reordered.front()->memory_order;
  const std::vector<int64_t> sizes = sizes_of(summary, facts);
  const int64_t widest = widest_of_all(summary);
  int64_t staged_bytes = 0; // of one element of each staged tensor
  for (const TensorAccess* access : reordered) {
    staged_bytes += size_bytes(access->tensor->dtype());
  }
  const auto widths_in = [&](const std::vector<int64_t>& parts) {
    std::vector<int64_t> widths;
    for (const TensorAccess& access : summary.accesses()) {
      widths.push_back(
          std::min(
              width_in_tile(access, axes, parts, facts), facts.target().max_vector_bytes / widest));
    }
    return widths;
  };
  const auto lanes_in = [&](const std::vector<int64_t>& parts) {
    const std::vector<int64_t> widths = widths_in(parts);
    RunLanes lanes;
    for (size_t i = 0; i < widths.size(); ++i) {
      const bool is_staged =
          std::ranges::find(reordered, &summary.accesses()[i]) != reordered.end();
      int64_t& of_side = is_staged ? lanes.operands : lanes.results;
      of_side = std::max(of_side, widths[i]);
    }
    return lanes;
  };
  const RunTile tile = choose_run_tile(
      {.sizes = sizes,
       .results = results,
       .operands = operands,
       .lanes = lanes_in,
       .element_bytes = widest,
       .staged_bytes = staged_bytes},
      first_tile(sizes, results, operands, widest, staged_bytes));
  const RunLanes lanes = lanes_in(tile.parts);
  params.tile_parts = tile.parts;
  params.fixed_sizes.assign(tile.parts.size(), 0);
  for (size_t i = 0; i < tile.parts.size(); ++i) {
    if (tile.parts[i] == sizes[i] && sizes[i] > 1 && may_be_fixed(axes[i])) {
      params.fixed_sizes[i] = sizes[i];
      params.tile_parts[i] = 0;
    }
  }
  params.vector_widths = widths_in(tile.parts);
  params.copies_past_registers = true;
  params.vectorize_factor1 = lanes.results;
  params.vectorize_factor2 = lanes.operands;
  params.lparams.bind(ParallelType::TIDx, tile.threads);
}

void apply_in_runs(FusionSummary& summary, const TransposeParams& params) {
  Fusion& fusion = summary.fusion();
  const std::vector<TensorAccess>& accesses = summary.accesses();
  check_parts(params, summary.reference().reference->axes.size());
  fix_sizes(fusion, summary.reference().reference->axes, params.fixed_sizes);
  std::vector<int64_t> widths = params.vector_widths;
  widths.resize(widths.empty() ? accesses.size() : widths.size(), 1);
  check_widths(widths, accesses);
  const std::vector<const TensorAccess*> reordered = find_reordered(summary);

  std::vector<TensorView*> read_in_place; // rows and columns of a tile
  for (const TensorAccess& access : accesses) {
    if (!access.is_output && !access.has_all_axes) {
      read_in_place.push_back(access.tensor);
    }
  }
  std::vector<TensorView*> copies(accesses.size(), nullptr);
  for (const TensorAccess* access : reordered) {
    const auto i = static_cast<size_t>(access - accesses.data());
    copies[i] = copy_past_registers(*access, widths[i], params);
    if (copies[i] != nullptr) {
      read_in_place.push_back(access->tensor);
    }
  }
  std::vector<TensorView*> moved = cache_global_tensors(accesses, read_in_place);
  for (size_t i = 0; i < accesses.size(); ++i) {
    moved[i] = copies[i] != nullptr ? copies[i] : moved[i];
  }
  TensorView* reference = moved[summary.reference_access()];
  const auto goes_through_shared = [&](size_t i) {
    return moved[i] != nullptr && std::ranges::find(reordered, &accesses[i]) != reordered.end();
  };
  std::vector<TensorView*> staged;
  std::vector<TensorView*> loads; // of the order of results
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (goes_through_shared(i)) {
      moved[i]->set_memory_type(MemoryType::Shared);
      static_cast<void>(moved[i]->cache_after()); // elements, out of shared memory
      staged.push_back(moved[i]);
    } else if (moved[i] != nullptr && !accesses[i].is_output) {
      loads.push_back(moved[i]);
    }
  }
  make_tiles(reference, params.tile_parts);
  transform::transform_like(reference);
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (goes_through_shared(i)) {
      make_staged(moved[i], accesses[i].memory_order, order_of_results(summary), widths[i], params);
    }
  }
  deal_to_threads(reference, params.vectorize_factor1, params);
  const std::vector<TensorView*> others = computed_without(fusion, staged);
  transform::transform_like(reference, others);
  transform::parallelize_like(reference, -1, others);
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (moved[i] != nullptr && !goes_through_shared(i)) {
      vectorize_access(moved[i], widths[i], params.vectorize_factor1);
    }
  }
  transform::inline_at(reference, 1, /*best_effort=*/true, staged);
  transform::inline_at(reference, 2, /*best_effort=*/true, loads);
  std::vector<TensorView*> placed = staged;
  placed.insert(placed.end(), loads.begin(), loads.end());
  transform::inline_most(fusion, computed_without(fusion, placed));
}

} // namespace nvfuser::schedule::transpose
