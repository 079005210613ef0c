// Products of a block whose factors have a scale for each 32 elements of k: tcgen05.mma with
// .kind::mxf8f6f4.block_scale. Compute capability 10.0. This has never run on hardware.
//
// Scales are powers of two of one byte (__e8m0). Those of 128 rows and 4 blocks are a chunk of 4
// columns: row 32 * i + l in lane l of each warp, column i, a byte for each block.
//
// provides: ScaleColumns tcgen05_copy_scales tcgen05_multiply_scaled
// requires: types bulk_copy tensor_memory tcgen05
#pragma once

/// Scales in tensor memory: columns from `offset` on.
struct ScaleColumns {
  unsigned first;

  template <unsigned kColumns, unsigned kBlocks>
  NVF_FUNCTION ScaleColumns(const BlockTensorMemory<kColumns, kBlocks>& memory, unsigned offset)
      : first(memory.first + offset) {}
  /// The chunk of the scale at `index`, and in the two highest bits its byte.
  NVF_FUNCTION unsigned column(unsigned index) const {
    return index % 4 << 30 | (first + index / 512 * 4);
  }
};

/// Copy chunks, of 512 bytes each, to the columns that follow each other. One thread begins it, in
/// order before the products that it begins.
template <unsigned kChunks, typename T>
NVF_FUNCTION void tcgen05_copy_scales(unsigned column, const T* from) {
  if (!BlockTensorMemory<32>::begins_products()) {
    return;
  }
  // PTX ISA, "Shared memory descriptor": no swizzle, 8 rows of 16 bytes follow each other.
  constexpr unsigned long long kLayout = 1ull << 46 | 8ull << 32;
#pragma unroll
  for (unsigned i = 0; i < kChunks; ++i) {
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;"
                 :
                 : "r"(column + 4 * i),
                   "l"(kLayout | ((shared_address(from) + 512 * i) & 0x3ffff) >> 4)
                 : "memory");
  }
}

/// The shape and the types of a product, k innermost in both factors: PTX ISA, "Instruction
/// descriptor" of .kind::mxf8f6f4. Which bytes of the scales are read is added.
NVF_FUNCTION constexpr unsigned tcgen05_scaled_instruction(
    unsigned a_format, unsigned b_format, unsigned rows, unsigned columns) {
  constexpr unsigned kScalesE8m0 = 1u << 23;
  return a_format << 7 | b_format << 10 | columns / 8 << 17 | kScalesE8m0 | rows / 128 << 27;
}

/// Add the product of two tiles of blocks, multiplied by their scales, to columns of tensor memory.
template <unsigned kInstruction>
NVF_FUNCTION void tcgen05_multiply_scaled(
    unsigned sum, unsigned long long a, unsigned long long b, unsigned a_scale, unsigned b_scale) {
  if (!BlockTensorMemory<32>::begins_products()) {
    return;
  }
  constexpr unsigned kColumn = ~(3u << 30);
  const unsigned instruction = kInstruction | b_scale >> 30 << 4 | a_scale >> 30 << 29;
  asm volatile(
      "{\n"
      "  .reg .pred adds;\n"
      "  setp.ne.b32 adds, 1, 0;\n"
      "  tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X"
      " [%0], %1, %2, %3, [%4], [%5], adds;\n"
      "}"
      :
      : "r"(sum), "l"(a), "l"(b), "r"(instruction), "r"(a_scale & kColumn), "r"(b_scale & kColumn)
      : "memory");
}
