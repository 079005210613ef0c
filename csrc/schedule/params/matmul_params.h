// Params of products of matrices, as scripts choose them. Products run through a library: no
// scheduler makes these params or applies them.
#pragma once

#include <string>
#include <utility>

#include "base/mma_macro.h"
#include "schedule/params/heuristic_params.h"

namespace nvfuser {

// clang-format off
#define NVF_FOR_EACH_MATMUL_TILING_STRATEGY(X) \
  X(OneTilePerCTA) X(DistributeTilesAcrossSMs) X(DistributeStagesAcrossSMs)
#define NVF_FOR_EACH_MATMUL_BUFFERING_LOOP_LEVEL(X) X(CTATiles) X(WarpTiles)
#define NVF_FOR_EACH_MATMUL_CIRCULAR_BUFFERING_STRATEGY(X) X(Pipelined) X(WarpSpecialized)
#define NVF_FOR_EACH_MATMUL_TILE_RASTERIZATION_ORDER(X) X(RowMajor) X(ColumnMajor)
// clang-format on

NVF_DECLARE_ENUM(MatmulTilingStrategy, NVF_FOR_EACH_MATMUL_TILING_STRATEGY)
NVF_DECLARE_ENUM(MatmulBufferingLoopLevel, NVF_FOR_EACH_MATMUL_BUFFERING_LOOP_LEVEL)
NVF_DECLARE_ENUM(MatmulCircularBufferingStrategy, NVF_FOR_EACH_MATMUL_CIRCULAR_BUFFERING_STRATEGY)
NVF_DECLARE_ENUM(MatmulTileRasterizationOrder, NVF_FOR_EACH_MATMUL_TILE_RASTERIZATION_ORDER)

/// Elements of a tile along the dimensions of a product [M, K] x [K, N].
struct GemmTile {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  static constexpr auto fields() {
    return std::tuple{
        attr("m", &GemmTile::m, "Rows of the result."),
        attr("n", &GemmTile::n, "Columns of the result."),
        attr("k", &GemmTile::k, "Elements that are summed over."),
    };
  }
  bool operator==(const GemmTile&) const = default;
  [[nodiscard]] std::string to_string() const;
};

struct MatMulTileOptions {
  GemmTile cta_tile{.m = 128, .n = 128, .k = 32};
  GemmTile warp_tile{.m = 64, .n = 64, .k = 32};
  static constexpr auto fields() {
    return std::tuple{
        attr("cta_tile", &MatMulTileOptions::cta_tile, "The tile of a block."),
        attr("warp_tile", &MatMulTileOptions::warp_tile, "The tile of a warp."),
    };
  }
  bool operator==(const MatMulTileOptions&) const = default;
  [[nodiscard]] std::string to_string() const;
};

struct CircularBufferOptions {
  bool circular_buffer_smem_write = false;
  bool circular_buffer_smem_read = false;
  int64_t smem_circular_buffer_stage = 2;
  int64_t smem_circular_buffer_prefetch_gap = 1;
  static constexpr auto fields() {
    using O = CircularBufferOptions;
    return std::tuple{
        attr(
            "circular_buffer_smem_write", &O::circular_buffer_smem_write,
            "Operands are loaded into shared memory ahead."),
        attr(
            "circular_buffer_smem_read", &O::circular_buffer_smem_read,
            "Operands are loaded from shared memory into registers ahead."),
        attr("smem_circular_buffer_stage", &O::smem_circular_buffer_stage, "Tiles that are kept."),
        attr(
            "smem_circular_buffer_prefetch_gap", &O::smem_circular_buffer_prefetch_gap,
            "Iterations between the last read of a tile and the load of the next one there."),
    };
  }
  bool operator==(const CircularBufferOptions&) const = default;
  [[nodiscard]] std::string to_string() const;
};

struct SupportedVectorization {
  int64_t a = 0;
  int64_t b = 0;
  int64_t epilogue = 0;
  static constexpr auto fields() {
    return std::tuple{
        attr("a", &SupportedVectorization::a, "Elements of an access to the first operand."),
        attr("b", &SupportedVectorization::b, "Elements of an access to the second operand."),
        attr("epilogue", &SupportedVectorization::epilogue, "Elements of an access to results."),
    };
  }
  bool operator==(const SupportedVectorization&) const = default;
  [[nodiscard]] std::string to_string() const;
};

struct ClusterDims {
  int64_t m = 1;
  int64_t n = 1;
  static constexpr auto fields() {
    return std::tuple{
        attr("m", &ClusterDims::m, "Blocks along the rows of the result."),
        attr("n", &ClusterDims::n, "Blocks along its columns."),
    };
  }
  bool operator==(const ClusterDims&) const = default;
  [[nodiscard]] std::string to_string() const;
};

/// The parts of an MmaMacro.
struct MmaMacroEncode {
  MmaMacroArch arch = MmaMacroArch::NoMma;
  uint16_t m = 0;
  uint16_t n = 0;
  uint16_t k = 0;
  static constexpr auto fields() {
    return std::tuple{
        attr("arch", &MmaMacroEncode::arch, "The first architecture that has it."),
        attr("m", &MmaMacroEncode::m, "Rows of the result."),
        attr("n", &MmaMacroEncode::n, "Columns of the result."),
        attr("k", &MmaMacroEncode::k, "Elements that are summed over."),
    };
  }
  bool operator==(const MmaMacroEncode&) const = default;
  [[nodiscard]] MmaMacro mma_macro() const {
    return {.arch = arch, .m = m, .n = n, .k = k};
  }
};

struct MatmulChoice {
  static constexpr SchedulerType kType = SchedulerType::matmul;
  static constexpr const char* kTitle = "Matmul";

  MatMulTileOptions tile_sizes = {};
  CircularBufferOptions circular_buffer_options = {};
  SupportedVectorization supported_vec_size = {};
  bool async_gmem_load_operands = false;
  std::pair<int64_t, int64_t> grid_traversal_factor = {1, 1};
  bool use_smem_epilogue = false;
  bool use_ldst_matrix = true;
  bool promote_prologue_smem_reuse = false;
  int64_t splitk_factor = 1;
  MatmulTilingStrategy tiling_strategy = MatmulTilingStrategy::OneTilePerCTA;
  MatmulBufferingLoopLevel buffering_loop_level = MatmulBufferingLoopLevel::CTATiles;
  MatmulCircularBufferingStrategy circular_buffering_strategy =
      MatmulCircularBufferingStrategy::Pipelined;
  MatmulTileRasterizationOrder cta_order = MatmulTileRasterizationOrder::RowMajor;
  ClusterDims cluster_dims = {};
  MmaMacro mma_macro = {};

  static constexpr auto fields() {
    using P = MatmulChoice;
    return std::tuple{
        attr("tile_sizes", &P::tile_sizes, "Tiles of a block and of a warp."),
        attr("circular_buffer_options", &P::circular_buffer_options, "Operands loaded ahead."),
        attr("supported_vec_size", &P::supported_vec_size, "Widths that layouts allow."),
        attr("async_gmem_load_operands", &P::async_gmem_load_operands, "Loads are asynchronous."),
        attr(
            "grid_traversal_factor", &P::grid_traversal_factor,
            "How many tiles along either side blocks that run together share in the cache."),
        attr("use_smem_epilogue", &P::use_smem_epilogue, "Results pass through shared memory."),
        attr("use_ldst_matrix", &P::use_ldst_matrix, "Results are moved as matrices."),
        attr(
            "promote_prologue_smem_reuse", &P::promote_prologue_smem_reuse,
            "The shared memory of operands is used again."),
        attr("splitk_factor", &P::splitk_factor, "Blocks that share one sum."),
        attr("tiling_strategy", &P::tiling_strategy, "How tiles are dealt out to blocks."),
        attr("buffering_loop_level", &P::buffering_loop_level, "The loop that loads ahead."),
        attr(
            "circular_buffering_strategy", &P::circular_buffering_strategy,
            "Which threads load ahead."),
        attr("cta_order", &P::cta_order, "The order of tiles."),
        attr("cluster_dims", &P::cluster_dims, "Blocks of a cluster."),
        attr("mma_macro", &P::mma_macro, "The instruction of tensor cores."),
    };
  }
  bool operator==(const MatmulChoice&) const = default;
  static std::string body_of(const ParamsOf<MatmulChoice>& params);
};
using MatmulParams = ParamsOf<MatmulChoice>;

/// Fields that are records are hashed by their own fields.
template <>
size_t MatmulParams::hash_of_fields() const;

} // namespace nvfuser
