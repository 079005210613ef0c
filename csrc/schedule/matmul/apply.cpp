// A block computes a tile of the result. Bulk copies bring boxes of both operands into shared
// memory, swizzled, as many stages ahead as it holds; a warpgroup of its own begins them. The
// others multiply, and go on with the sum in registers.
//
//   a, b      [iterations over k, 1, blocks.., box]                  a box is [rows, 64 of k]
//   sum       [iterations, instructions, blocks.., warpgroups, tiles, lanes, mma]
//   the rest  [blocks.., warpgroups, tiles, lanes, registers]
//   rows      [blocks.., steps, lanes]       operands of one dimension that are computed
//
// An operand that is contiguous along m or n has boxes [64 of k, 64 of m], as they lie in memory: a
// tile is several of them, and all tensors have their axis m or n split so.
//
// With DistributeTilesAcrossSMs a block goes from tile to tile: two loops over tiles, along m and
// n, stand outside of all that. While it finishes a tile, boxes of the next are loaded.
#include <algorithm>

#include "ir/all_nodes.h"
#include "ir/rules.h"
#include "schedule/common/canonical.h"
#include "schedule/matmul/matmul.h"
#include "transform/circular_buffer.h"
#include "transform/fragments.h"
#include "transform/inline.h"
#include "transform/mma_macro.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"
#include "transform/translate_product.h"

namespace nvfuser::schedule::matmul {
namespace {

constexpr int64_t kPiece = 8;      // elements of 16 bytes, which are swizzled
constexpr int64_t kLines = 8;      // of 128 bytes, after which the permutation repeats
constexpr int64_t kRow = 64;       // elements of a row of a box: 128 bytes
constexpr int64_t kMostRows = 256; // of a box
constexpr int64_t kPair = 2;
constexpr int64_t kOtherBytes = 2048; // of shared memory: barriers, and what the system takes

/// Says no to params that a user edited to what no kernel of ours has.
std::optional<Refusal> find_wrong_params(const MatmulProblem& problem, const MatmulParams& params) {
  const TensorView* product = problem.product;
  const GemmTile& block = params.tile_sizes.cta_tile;
  const GemmTile& group = params.tile_sizes.warp_tile;
  const MmaMacro& macro = params.mma_macro;
  const auto wrong = [&](Part expected, Part found) {
    return refuse_node(
        product, {"The matmul scheduler makes no kernel with these params"}, std::move(expected),
        std::move(found), {"begin with what compute_heuristics returns"});
  };
  if (macro.arch != MmaMacroArch::Hopper || find_mma_instruction(macro) == nullptr ||
      macro.k * size_bits(product->dtype()) != 256) {
    return wrong({"mma_macro Hopper_64_N_16, N a multiple of 8 up to 256"}, {macro.to_string()});
  }
  const bool has_tiles = group.m > 0 && group.m % macro.m == 0 && block.m > 0 &&
                         block.m % group.m == 0 && block.m <= kMostRows && block.n == macro.n &&
                         group.n == macro.n && block.k == kRow && group.k == kRow;
  if (!has_tiles) {
    return wrong(
        {"a tile of a block of up to ", kMostRows, " rows, warp tiles of ", macro.m,
         " rows or a multiple that divides them, both of ", macro.n, " columns and ", kRow,
         " of k"},
        {params.tile_sizes.to_string()});
  }
  if (problem.b_runs_along_n && block.n % kRow != 0) {
    return wrong(
        {"tiles of a multiple of ", kRow, " columns, as ", problem.b->to_string(),
         " is contiguous along n"},
        {block.n, " columns"});
  }
  const auto [first, second] = params.grid_traversal_factor;
  const bool goes_on = params.tiling_strategy == MatmulTilingStrategy::DistributeTilesAcrossSMs;
  const bool has_strategy =
      goes_on || params.tiling_strategy == MatmulTilingStrategy::OneTilePerCTA;
  if (params.splitk_factor != 1 || params.cluster_dims != ClusterDims{} || !has_strategy ||
      params.use_smem_epilogue || first < 1 || second < 1 || (!goes_on && second != 1)) {
    return wrong(
        {"whole sums: splitk_factor 1, cluster_dims (1, 1), no use_smem_epilogue; one_tile_per_cta "
         "with grid_traversal_factor (n, 1), or distribute_tiles_across_sms with the blocks along "
         "m and n"},
        {"others"});
  }
  if (goes_on && !problem.rows.empty()) {
    return wrong(
        {"one_tile_per_cta, as ", problem.rows.front().tensor->to_string(), " is computed"},
        {"distribute_tiles_across_sms"});
  }
  return std::nullopt;
}

/// Bind neighbouring loop axes, from `first` on.
void bind(TensorView* tensor, int64_t first, std::initializer_list<ParallelType> types) {
  for (const ParallelType type : types) {
    tensor->axis(first++)->parallelize(type);
  }
}

/// Schedules the tensors of a problem.
class ProductSchedule {
 public:
  ProductSchedule(const MatmulProblem& problem, const MatmulParams& params)
      : problem_(problem),
        params_(params),
        block_(params.tile_sizes.cta_tile),
        group_(params.tile_sizes.warp_tile),
        m_{.tile = block_.m, .has_boxes = problem.a_runs_along_m},
        n_{.tile = block_.n, .has_boxes = problem.b_runs_along_n} {}

  /// The sum, as an instruction computes it, and its operands.
  void translate() {
    sum_ = transform::translate_to_mma(problem_.product);
    const auto& mma = *sum_->definition()->as<MmaOp>();
    a_ = static_cast<TensorView*>(mma.a);
    b_ = static_cast<TensorView*>(mma.b);
    transform::set_mma_macro(sum_, params_.mma_macro);
  }

  /// Outputs become copies of what is computed in registers, and inputs with an element for each of
  /// the result are loaded there. Returns what is stored and loaded in pairs.
  std::vector<TensorView*> cache(const std::vector<TensorView*>& outputs) {
    std::vector<TensorView*> moved;
    for (TensorView* output : outputs) {
      TensorView* stored = output->uses().empty() ? output : output->cache_fork();
      if (stored == output) {
        static_cast<void>(output->cache_before());
      }
      moved.push_back(stored);
    }
    for (TensorView* input : problem_.streamed) {
      moved.push_back(input->cache_after());
    }
    return moved;
  }

  void schedule_boxes() {
    schedule_box(a_, /*is_a=*/true);
    schedule_box(b_, /*is_a=*/false);
  }

  void schedule_sum() {
    put_k_last(sum_);
    sum_->split(2, block_.k);
    sum_->split(3, params_.mma_macro.k);
    // [m, n, iterations, instructions, k]
    std::vector<int64_t> order = split_tiles(sum_);
    const auto depth = static_cast<int64_t>(order.size());
    order.insert(order.begin() + num_tile_loops(), {depth, depth + 1});
    order.push_back(depth + 2);
    arrange_axes(sum_, order);
    transform::apply_mma_swizzle(sum_, params_.mma_macro, std::nullopt);
    sum_->axis(num_tile_loops() + 1)->parallelize(ParallelType::Unroll);
    bind_tiles(sum_, num_tile_loops() + 2);
  }

  /// A tensor [m.., n] of the epilogue.
  void schedule_result(TensorView* out) {
    merge_axes(out, 0, num_m());
    arrange_axes(out, split_tiles(out));
    transform::apply_mma_swizzle(out, params_.mma_macro, std::nullopt);
    if (goes_on()) {
      out->axis(-3)->parallelize(ParallelType::Unswitch); // a tile that is whole is tested once
    }
    bind_tiles(out, num_tile_loops());
  }

  /// Rows that are broadcast lie in shared memory, where all lanes find their elements:
  /// [x] to [blocks.., steps, lanes].
  void schedule_rows() const {
    constexpr int64_t kLanes = 128;
    for (const auto& [row, is_along_n] : problem_.rows) {
      row->set_memory_type(MemoryType::Shared);
      split_side(row, 0, is_along_n ? n_ : m_);
      split_blocks(row, 0, /*is_grouped=*/is_along_n != groups_rows());
      row->split(-1, kLanes);
      row->axis(-1)->parallelize(ParallelType::TIDx);
    }
  }

  void load_ahead(TensorView* result) {
    transform::inline_at(sum_, num_tile_loops() + 1, /*best_effort=*/false, {a_, b_});
    if (goes_on()) {
      transform::inline_at(result, num_tile_loops(), /*best_effort=*/false, {sum_});
    }
    const int64_t stages = params_.circular_buffer_options.smem_circular_buffer_stage;
    const int64_t ahead =
        stages - params_.circular_buffer_options.smem_circular_buffer_prefetch_gap;
    for (TensorView* box : {a_, b_}) {
      if (!params_.circular_buffer_options.circular_buffer_smem_write) {
        continue;
      }
      if (params_.circular_buffering_strategy == MatmulCircularBufferingStrategy::WarpSpecialized) {
        transform::warp_specialize(box, stages, ahead, ParallelType::TIDy, registers());
      } else {
        box->circular_buffer(stages, ahead);
      }
    }
  }

  /// Whether a tensor does not run in the loops of the epilogue.
  [[nodiscard]] bool has_own_loops(const TensorView* tensor) const {
    return tensor->is_fusion_input() || tensor == a_ || tensor == b_ || tensor == sum_ ||
           std::ranges::find(problem_.rows, tensor, &MatmulProblem::Row::tensor) !=
               problem_.rows.end();
  }

 private:
  [[nodiscard]] int64_t num_m() const {
    return static_cast<int64_t>(problem_.m.size());
  }
  /// Whether a block computes tiles one after the other.
  [[nodiscard]] bool goes_on() const {
    return params_.tiling_strategy == MatmulTilingStrategy::DistributeTilesAcrossSMs;
  }
  /// Over tiles along m and n.
  [[nodiscard]] int64_t num_tile_loops() const {
    return goes_on() ? 2 : 0;
  }
  [[nodiscard]] bool groups_rows() const {
    return params_.cta_order == MatmulTileRasterizationOrder::ColumnMajor;
  }
  /// Blocks that follow each other along one side.
  [[nodiscard]] int64_t blocks_of_group() const {
    return params_.grid_traversal_factor.first;
  }

  /// [m.., k, n] of a matmul, and [m.., n, k] of a linear, to [m, n, k].
  void put_k_last(TensorView* tensor) const {
    if (!problem_.is_linear) {
      arrange_axes(tensor, {0, 2, 1});
    }
    merge_axes(tensor, 0, num_m());
  }

  /// A side of the result, m or n, in the tiles of blocks. If rows of the operand run along it, a
  /// tile consists of boxes as wide as a row: if the tile were split into them, they would begin
  /// at a part of a split, and a bulk copy could not tell where the operand ends.
  struct Side {
    int64_t tile = 0;
    bool has_boxes = false;
  };

  /// [x] to [blocks, boxes of a tile, row].
  static void split_boxes(TensorView* tensor, int64_t axis, const Side& side) {
    tensor->split(axis, kRow);
    tensor->split(axis, side.tile / kRow);
  }

  /// [x] to [blocks, tile].
  static void split_side(TensorView* tensor, int64_t axis, const Side& side) {
    if (!side.has_boxes) {
      tensor->split(axis, side.tile);
      return;
    }
    split_boxes(tensor, axis, side);
    tensor->merge(axis + 1);
  }

  /// The side of an operand itself: [blocks, rows], or [blocks, boxes of a tile, row].
  static void split_own_side(TensorView* box, int64_t axis, const Side& side) {
    side.has_boxes ? split_boxes(box, axis, side) : split_side(box, axis, side);
  }

  /// [m, 1, k] or [1, n, k] to [tiles.., iterations, 1, blocks.., rows / 8, 8, pieces, 8], in
  /// shared memory.
  void schedule_box(TensorView* box, bool is_a) const {
    put_k_last(box);
    box->set_memory_type(MemoryType::Shared);
    goes_on() ? split_box_of_tiles(box, is_a) : split_box(box, is_a);
    box->split(-1, kPiece);
    box->split(-3, kLines);
    box->swizzle(-3, -2);
    const int64_t first = box->ndims() - 4;
    for (int64_t i = first; i < box->ndims(); ++i) {
      box->axis(i)->parallelize(ParallelType::Bulk);
    }
  }

  /// To [iterations, 1, blocks.., rows, k], or [.., boxes, k, row].
  void split_box(TensorView* box, bool is_a) const {
    const Side& side = is_a ? m_ : n_;
    arrange_axes(box, is_a ? std::vector<int64_t>{2, 1, 0} : std::vector<int64_t>{2, 0, 1});
    split_own_side(box, 2, side);
    split_blocks(box, 2, /*is_grouped=*/is_a == groups_rows());
    box->split(0, block_.k); // [iterations, k, 1, blocks.., (boxes,) row]
    std::vector<int64_t> order{0};
    for (int64_t i = 2; i < box->ndims(); ++i) {
      order.push_back(i);
    }
    order.insert(order.end() - (side.has_boxes ? 1 : 0), 1);
    arrange_axes(box, order);
  }

  /// To [tiles, tiles, iterations, blocks, blocks, 1, rows, k], or [.., boxes, k, row]: the axis of
  /// one element is split as that of the other operand, so that blocks along it load the same box.
  void split_box_of_tiles(TensorView* box, bool is_a) const {
    const auto [blocks_m, blocks_n] = params_.grid_traversal_factor;
    const Side& side = is_a ? m_ : n_;
    box->split(2, block_.k);
    is_a ? split_side(box, 1, n_) : split_own_side(box, 1, n_);
    box->split(1, blocks_n);
    is_a ? split_own_side(box, 0, m_) : split_side(box, 0, m_);
    box->split(0, blocks_m);
    // [tiles, blocks, m.., tiles, blocks, n.., iterations, k]
    const int64_t own = side.has_boxes ? 2 : 1; // axes of a tile
    const int64_t n = is_a ? 2 + own : 3;
    const int64_t depth = box->ndims() - 1;
    std::vector<int64_t> order{0, n, depth - 1, 1, n + 1, is_a ? n + 2 : 2};
    for (int64_t i = 0; i < own; ++i) {
      order.push_back((is_a ? 2 : n + 2) + i);
    }
    order.insert(order.end() - (side.has_boxes ? 1 : 0), depth);
    arrange_axes(box, order);
    bind(box, 3, {ParallelType::BIDx, ParallelType::BIDy});
  }

  /// Bind the blocks at `axis` along one side; groups of them if they are those that are grouped.
  void split_blocks(TensorView* tensor, int64_t axis, bool is_grouped) const {
    if (!is_grouped) {
      bind(tensor, axis, {ParallelType::BIDy});
      return;
    }
    tensor->split(axis, blocks_of_group());
    bind(tensor, axis, {ParallelType::BIDz, ParallelType::BIDx});
  }

  /// Split [m, n, ..] into tiles; returns the order of their axes in the loops: blocks, warpgroups,
  /// tiles of a warpgroup, and the tile.
  [[nodiscard]] std::vector<int64_t> split_tiles(TensorView* tensor) const {
    split_side(tensor, 1, n_);
    if (m_.has_boxes) { // as high as the tile of an instruction
      split_boxes(tensor, 0, m_);
      tensor->split(1, group_.m / kRow);
    } else {
      split_side(tensor, 0, m_);
      tensor->split(1, group_.m);
      tensor->split(2, params_.mma_macro.m);
    }
    if (goes_on()) {
      tensor->split(4, params_.grid_traversal_factor.second);
      tensor->split(0, params_.grid_traversal_factor.first);
      // [tiles, blocks, warpgroups, tiles of one, 64, tiles, blocks, n]
      return {0, 5, 1, 6, 2, 3, 4, 7};
    }
    if (groups_rows()) { // [groups, blocks, warpgroups, tiles, 64, blocks, n]
      tensor->split(0, blocks_of_group());
      return {0, 5, 1, 2, 3, 4, 6};
    }
    tensor->split(4, blocks_of_group()); // [blocks, warpgroups, tiles, 64, groups, blocks, n]
    return {4, 0, 5, 1, 2, 3, 6};
  }

  void bind_tiles(TensorView* tensor, int64_t first) const {
    if (goes_on()) {
      bind(tensor, first, {ParallelType::BIDx, ParallelType::BIDy, ParallelType::TIDy});
      return;
    }
    bind(
        tensor, first,
        {ParallelType::BIDz, ParallelType::BIDy, ParallelType::BIDx, ParallelType::TIDy});
  }

  /// Registers of a thread that loads, and of one that computes. A multiprocessor holds as many
  /// blocks as its shared memory has room for, up to two, and they share its registers. Nothing:
  /// every thread may have as many as it likes.
  [[nodiscard]] std::optional<std::pair<int64_t, int64_t>> registers() const {
    constexpr Target kTarget = Target::cuda();
    constexpr int64_t kGroup = 128; // threads
    constexpr int64_t kMost = 232;
    const int64_t groups = block_.m / group_.m;
    const int64_t bytes = (block_.m + block_.n) * block_.k * size_bytes(problem_.a->dtype()) *
                          params_.circular_buffer_options.smem_circular_buffer_stage;
    const int64_t blocks = 2 * (bytes + kOtherBytes) <= kTarget.shared_bytes_per_sm ? 2 : 1;
    if (groups + blocks < 3) {
      return std::nullopt;
    }
    const int64_t unit = kTarget.register_granularity;
    const int64_t threads = kGroup * (groups + 1);
    const int64_t at_start = kTarget.registers_per_sm / blocks / threads / unit * unit;
    const int64_t loading = blocks == 1 ? 40 : 24;
    const int64_t computing =
        (at_start * threads - loading * kGroup) / (groups * kGroup) / unit * unit;
    return std::pair(loading, std::min(computing, kMost));
  }

  const MatmulProblem& problem_;
  const MatmulParams& params_;
  const GemmTile& block_;
  const GemmTile& group_;
  const Side m_;
  const Side n_;
  TensorView* sum_ = nullptr;
  TensorView* a_ = nullptr;
  TensorView* b_ = nullptr;
};

} // namespace

void apply(FusionSummary& summary, const HeuristicParams& heuristics) {
  const auto& params = params_as<MatmulParams>(heuristics, SchedulerType::matmul);
  const auto problem = std::get<MatmulProblem>(find_problem(summary));
  check(find_wrong_params(problem, params));
  Fusion& fusion = summary.fusion();
  const FusionGuard guard(&fusion);
  ProductSchedule schedule(problem, params);
  schedule.translate();
  const std::vector<TensorView*> moved = schedule.cache(summary.outputs());
  schedule.schedule_boxes();
  schedule.schedule_sum();
  schedule.schedule_rows();
  TensorView* reference = moved.front();
  schedule.schedule_result(reference);
  std::vector<TensorView*> epilogue = fusion.tensors();
  std::erase_if(epilogue, [&](const TensorView* tensor) { return schedule.has_own_loops(tensor); });
  transform::transform_like(reference, epilogue);
  transform::parallelize_like(reference, -1, epilogue);
  if (params.supported_vec_size.epilogue >= kPair) {
    for (TensorView* tensor : moved) {
      tensor->axis(-1)->parallelize(ParallelType::Vectorize);
    }
  }
  schedule.load_ahead(reference);
  std::erase_if(epilogue, [](const TensorView* tensor) { return tensor->is_fusion_output(); });
  transform::inline_most(fusion, epilogue);
}

} // namespace nvfuser::schedule::matmul
