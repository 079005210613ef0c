// Params of `matmul`: tiles by the time that all multiprocessors need for theirs.
//
//   time     = rounds of tiles * (beginning of a block + products of a tile + its epilogue)
//   epilogue = instructions, or waits for operands of one dimension + loads + stores
//
// A library's time has the same rounds, with a short end of each tile, and that of a kernel that
// reads the result and writes it once more. The figures are those of an H200 (docs/products.md).
//
// Tensor cores wait for the epilogue. A lane asks for elements of a bias when it needs them, and
// waits for each; the instructions of an activation run meanwhile.
#include <algorithm>
#include <array>

#include "ir/all_nodes.h"
#include "schedule/common/problem_sizes.h"
#include "schedule/matmul/matmul.h"
#include "schedule/summary/costs.h"

namespace nvfuser::schedule::matmul {
namespace {

constexpr int64_t kDepth = 64; // of an iteration over k: 128 bytes
constexpr int64_t kInstructionRows = 64;
constexpr int64_t kInstructionDepth = 16;
constexpr int64_t kMostStages = 8;
constexpr int64_t kBlocksOfGroup = 16; // whose tiles share rows of both operands in the cache

/// A tile of a block, and the part of the full rate that it reaches.
struct Tile {
  int64_t rows;
  int64_t columns;
  int64_t rows_of_group;
  double efficiency;
};
constexpr auto kTiles = std::to_array<Tile>({
    {128, 256, 64, 1.0},
    {256, 128, 128, 0.97},
    {128, 128, 64, 0.85},
    {64, 256, 64, 0.7},
    {64, 128, 64, 0.6},
    {64, 64, 64, 0.4},
});

// Facts of one multiprocessor:
constexpr double kFlopsPerUs = 6.3e6;    // as in large products of a library
constexpr double kSlotsPerUs = 217e3;    // instructions of lanes
constexpr double kSlotsOfStore = 12;     // conversion, address and store of an element
constexpr double kSlotsOfNormal = 10;    // the probability in a gelu that is rounded to 16 bits
constexpr double kTileBytesPerUs = 60e3; // that all of them store at the same time
constexpr double kLoadedBytesPerUs = 43e3;
constexpr double kRowElementsPerUs = 4.8e3; // of a tile, beside elements of a bias
constexpr double kBeginUs = 2.1;            // of a block, until its first product
constexpr double kLibraryEndUs = 1.2;       // of a tile
/// Neighbouring lanes store so many elements of a row together, in whole sectors of memory.
constexpr int64_t kStoredTogether = 8;
constexpr int64_t kSectorBytes = 32;
constexpr int64_t kShortBytes = 2; // of a type that a gelu is rounded to
// Facts of the whole device:
constexpr double kBytesPerUs = 4.1e6; // a part of the product is in the cache
constexpr double kLaunchUs = 1.5;     // until a second kernel runs at full rate
/// Time of the host to call the framework for a product: a device that needs less waits for it.
constexpr double kEvaluationUs = 200;

double rounds_of(const Tile& tile, const MatmulSizes& sizes, const RunFacts& facts) {
  const int64_t sms = std::max<int64_t>(facts.target().num_sms, 1);
  return static_cast<double>(
      ceil_div(ceil_div(sizes.m, tile.rows) * ceil_div(sizes.n, tile.columns), sms));
}

double products_us(const Tile& tile, const MatmulSizes& sizes) {
  const auto elements = static_cast<double>(tile.rows * tile.columns);
  const auto depth = static_cast<double>(ceil_div(sizes.k, kDepth) * kDepth);
  return 2 * elements * depth / (kFlopsPerUs * tile.efficiency);
}

double slots_of_epilogue(const FusionSummary& summary, const MatmulProblem& problem) {
  double slots = kSlotsOfStore;
  for (const Expr* expr : summary.exprs()) {
    if (expr != problem.product->definition()) {
      const auto* unary = expr->as<UnaryOp>();
      const bool is_short = unary != nullptr && unary->op == UnaryOpType::Erf &&
                            size_bytes(problem.product->dtype()) <= kShortBytes;
      slots += is_short ? kSlotsOfNormal : cost_of(expr).slots;
    }
  }
  return slots;
}

/// Whether the epilogue reads operands of one dimension.
bool reads_rows(const FusionSummary& summary, const MatmulProblem& problem) {
  return std::ranges::any_of(summary.inputs(), [&](const TensorView* input) {
    return input != problem.a && input != problem.b && input->rank() > 0 &&
           std::ranges::find(problem.streamed, input) == problem.streamed.end();
  });
}

/// Bytes of an element of the result, in each tensor of its shape but the product.
struct StreamedBytes {
  int64_t loaded = 0;
  int64_t stored = 0;
  int64_t sectors = 0; // stored, where a part of a sector takes as long as all of it
};

StreamedBytes streamed_bytes(const FusionSummary& summary, const MatmulProblem& problem) {
  StreamedBytes bytes;
  for (const TensorView* tensor : problem.streamed) {
    bytes.loaded += size_bytes(tensor->dtype());
  }
  for (const TensorView* output : summary.outputs()) {
    const int64_t size = size_bytes(output->dtype());
    bytes.stored += size;
    bytes.sectors += std::max(size, kSectorBytes / kStoredTogether);
  }
  return bytes;
}

/// The time of all tiles, one after the other on each multiprocessor.
double kernel_us(
    const Tile& tile,
    const MatmulSizes& sizes,
    double rounds,
    double slots,
    bool waits_for_rows,
    const StreamedBytes& bytes) {
  const auto elements = static_cast<double>(tile.rows * tile.columns);
  const double stores = elements * static_cast<double>(bytes.sectors) / kTileBytesPerUs;
  const double computing = elements * slots / kSlotsPerUs;
  const double waits = waits_for_rows ? elements / kRowElementsPerUs : 0;
  const double loads = elements * static_cast<double>(bytes.loaded) / kLoadedBytesPerUs;
  return rounds *
         (kBeginUs + products_us(tile, sizes) + std::max(computing, waits) + loads + stores);
}

int64_t stages_of(const Tile& tile, const Target& target, int64_t element_bytes) {
  constexpr int64_t kOtherBytes = 2048; // barriers
  const int64_t shared =
      target.is_cuda() ? target.max_shared_bytes : Target::cuda().max_shared_bytes;
  const int64_t bytes = (tile.rows + tile.columns) * kDepth * element_bytes;
  return std::clamp<int64_t>((shared - kOtherBytes) / bytes, 2, kMostStages);
}

} // namespace

TileChoice choose_tiles(
    const MatmulProblem& problem, const FusionSummary& summary, const RunFacts& facts) {
  const MatmulSizes sizes = sizes_of(problem, facts);
  const double slots = slots_of_epilogue(summary, problem);
  const bool waits_for_rows = reads_rows(summary, problem);
  const StreamedBytes bytes = streamed_bytes(summary, problem);
  TileChoice best;
  double library_us = 0;
  for (const Tile& tile : kTiles) {
    const double rounds = rounds_of(tile, sizes, facts);
    const double kernel = kernel_us(tile, sizes, rounds, slots, waits_for_rows, bytes);
    const double library = rounds * (kLibraryEndUs + products_us(tile, sizes));
    library_us = library_us == 0 ? library : std::min(library_us, library);
    if (best.kernel_us == 0 || kernel < best.kernel_us) {
      best = {
          .rows = tile.rows,
          .columns = tile.columns,
          .rows_of_group = tile.rows_of_group,
          .stages = stages_of(tile, facts.target(), size_bytes(problem.a->dtype())),
          .kernel_us = kernel};
    }
  }
  // The product is written by the library, and read by the kernel for the rest.
  const int64_t moved = bytes.loaded + bytes.stored + size_bytes(problem.product->dtype());
  const double rest_us = kLaunchUs + static_cast<double>(moved * sizes.m * sizes.n) / kBytesPerUs;
  best.library_us = std::max(library_us + rest_us, kEvaluationUs);
  return best;
}

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  const auto problem = std::get<MatmulProblem>(find_problem(summary));
  const MatmulSizes sizes = sizes_of(problem, facts);
  const TileChoice tile = choose_tiles(problem, summary, facts);
  auto params = std::make_unique<MatmulParams>();
  params->tile_sizes = {
      .cta_tile = {.m = tile.rows, .n = tile.columns, .k = kDepth},
      .warp_tile = {.m = tile.rows_of_group, .n = tile.columns, .k = kDepth}};
  params->mma_macro = {
      .arch = MmaMacroArch::Hopper,
      .m = kInstructionRows,
      .n = static_cast<uint16_t>(tile.columns),
      .k = kInstructionDepth};
  params->circular_buffer_options = {
      .circular_buffer_smem_write = true,
      .circular_buffer_smem_read = false,
      .smem_circular_buffer_stage = tile.stages,
      .smem_circular_buffer_prefetch_gap = 1};
  params->circular_buffering_strategy = MatmulCircularBufferingStrategy::WarpSpecialized;
  constexpr int64_t kPiece = 8; // elements of 16 bytes
  constexpr int64_t kPair = 2;  // neighbours that a lane holds
  params->supported_vec_size = {
      .a = kPiece, .b = kPiece, .epilogue = sizes.n % kPair == 0 ? kPair : 1};
  params->async_gmem_load_operands = true;
  params->use_ldst_matrix = false;
  params->cta_order = MatmulTileRasterizationOrder::ColumnMajor;
  const int64_t row_blocks = ceil_div(sizes.m, tile.rows);
  const int64_t group = std::min(kBlocksOfGroup, power_of_two_above(row_blocks));
  params->grid_traversal_factor = {group, 1};
  params->lparams.bind(ParallelType::BIDx, group);
  params->lparams.bind(ParallelType::BIDy, ceil_div(sizes.n, tile.columns));
  params->lparams.bind(ParallelType::BIDz, ceil_div(row_blocks, group));
  return params;
}

} // namespace nvfuser::schedule::matmul
