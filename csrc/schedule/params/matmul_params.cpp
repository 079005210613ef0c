#include "schedule/params/matmul_params.h"

#include <sstream>

namespace nvfuser {
namespace {

std::string list_of(const GemmTile& tile) {
  return "[" + std::to_string(tile.m) + ", " + std::to_string(tile.n) + ", " +
         std::to_string(tile.k) + "]";
}

const char* index_text(const CompileParams& cparams) {
  if (!cparams.index_type) {
    return "unavailable";
  }
  return *cparams.index_type == DataType::Int ? "int64_t" : "int32_t";
}

} // namespace

std::string GemmTile::to_string() const {
  std::ostringstream out;
  out << "GemmTile(m=" << m << ", n=" << n << ", k=" << k << ")";
  return out.str();
}

std::string MatMulTileOptions::to_string() const {
  return "MatMulTileOptions: warp tile " + list_of(warp_tile) + ", CTA tile " + list_of(cta_tile);
}

std::string CircularBufferOptions::to_string() const {
  std::ostringstream out;
  out << std::boolalpha << "CircularBufferOptions:"
      << "\n  circular_buffer_smem_write: " << circular_buffer_smem_write
      << "\n  circular_buffer_smem_read: " << circular_buffer_smem_read
      << "\n  smem_circular_buffer_stage: " << smem_circular_buffer_stage
      << "\n  smem_circular_buffer_prefetch_gap: " << smem_circular_buffer_prefetch_gap;
  return out.str();
}

std::string SupportedVectorization::to_string() const {
  std::ostringstream out;
  out << "SupportedVectorization:\n  a: " << a << "\n  b: " << b << "\n  epilogue: " << epilogue;
  return out.str();
}

std::string ClusterDims::to_string() const {
  return "__cluster_dims__(" + std::to_string(m) + ", " + std::to_string(n) + ")";
}

template <>
size_t MatmulParams::hash_of_fields() const {
  size_t hash = 0;
  for_each_field<MatmulChoice>([&](const auto& field) {
    for_each_leaf(this->*field.member, [&]<typename Leaf>(const Leaf& leaf) {
      hash = nvfuser::detail::hash_combine(hash, nvfuser::detail::hash_attr<Leaf>(leaf));
    });
  });
  return hash;
}

std::string MatmulChoice::body_of(const MatmulParams& params) {
  const bool is_row_major = params.cta_order == MatmulTileRasterizationOrder::RowMajor;
  std::ostringstream out;
  if (!params.tag.empty()) {
    out << "Tag: " << params.tag << "\n";
  }
  out << "MMA macro: " << params.mma_macro.to_string() << "\n"
      << params.circular_buffer_options.to_string() << "\n"
      << params.supported_vec_size.to_string() << "\n"
      << params.tile_sizes.to_string() << "\n"
      << "Async global mem load: " << (params.async_gmem_load_operands ? "true" : "false") << "\n"
      << "Indexing mode: " << index_text(params.cparams) << "\n"
      << "Tile rasterization order: " << (is_row_major ? "row-major" : "column-major") << "\n"
      << "Grid swizzle factor: (" << params.grid_traversal_factor.first << ", "
      << params.grid_traversal_factor.second << ")\n"
      << "Tiling strategy: " << enum_name(params.tiling_strategy) << "\n"
      << "Buffering loop level: " << enum_name(params.buffering_loop_level) << "\n"
      << "Circular buffering strategy: " << enum_name(params.circular_buffering_strategy) << "\n"
      << params.cluster_dims.to_string() << "\n"
      << "Use shared memory epilogue: " << params.use_smem_epilogue << "\n"
      << "Promote re-use of prologue shared memory: " << params.promote_prologue_smem_reuse << "\n"
      << "Use ldmatrix/stmatrix in epilogue: " << params.use_ldst_matrix << "\n"
      << "Split-K factor: " << params.splitk_factor << "\n";
  return out.str();
}

} // namespace nvfuser
