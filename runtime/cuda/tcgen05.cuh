// Products of a block, or of a pair of blocks, that one thread begins: factors in shared memory,
// the sum in tensor memory. Compute capability 10.0. This has never run on hardware.
//
// provides: tcgen05_descriptor tcgen05_multiply
// requires: types bulk_copy tensor_memory
#pragma once

/// A tile that begins at `first`, as the instruction is told: rows of `kWidth` bytes of k that
/// follow each other, of which pieces of 16 bytes are permuted in lines of 128 bytes.
template <unsigned kWidth, typename T>
NVF_FUNCTION unsigned long long tcgen05_descriptor(const T* first) {
  static_assert(kWidth == 32 || kWidth == 64 || kWidth == 128, "a swizzle of the hardware");
  constexpr unsigned long long kSwizzle = kWidth == 128 ? 2 : kWidth == 64 ? 4 : 6;
  constexpr unsigned long long kVersion = 1;
  constexpr unsigned long long kBetweenRows = 8 * kWidth / 16; // groups of 8, in pieces of 16 bytes
  constexpr unsigned long long kBetweenColumns = 1;            // not used: a tile is a row wide
  return kSwizzle << 61 | kVersion << 46 | kBetweenRows << 32 | kBetweenColumns << 16 |
         (shared_address(first) & 0x3ffff) >> 4;
}

/// Formats of factors, as each kind of the instruction numbers them: of 16 bits and of 32 bits, of
/// 8 bits, and of integers.
constexpr unsigned kFormatHalf = 0;
constexpr unsigned kFormatBFloat16 = 1;
constexpr unsigned kFormatTf32 = 2;
constexpr unsigned kFormatE4m3 = 0;
constexpr unsigned kFormatE5m2 = 1;
constexpr unsigned kFormatSigned = 1;

/// Formats of sums.
constexpr unsigned kSumFloat = 1;
constexpr unsigned kSumInt32 = 2;

/// The shape and the types of a product, k innermost in both factors: PTX ISA, "Instruction
/// descriptor" of .kind::tf32, .kind::f16, .kind::f8f6f4 and .kind::i8.
NVF_FUNCTION constexpr unsigned tcgen05_instruction(
    unsigned a_format,
    unsigned b_format,
    unsigned rows,
    unsigned columns,
    unsigned sum_format = kSumFloat) {
  return sum_format << 4 | a_format << 7 | b_format << 10 | columns / 8 << 17 | rows / 16 << 24;
}

#define NVF_TCGEN05(BLOCKS, KIND)                       \
  asm volatile(                                         \
      "{\n"                                             \
      "  .reg .pred adds;\n"                            \
      "  setp.ne.b32 adds, 1, 0;\n"                     \
      "  tcgen05.mma.cta_group::" BLOCKS ".kind::" KIND \
      " [%0], %1, %2, %3, adds;\n"                      \
      "}"                                               \
      :                                                 \
      : "r"(sum), "l"(a), "l"(b), "r"(kInstruction)     \
      : "memory")

/// Add the product of two tiles, of elements of `kBits`, to columns of tensor memory. Two blocks
/// have their tiles at the same addresses. Elements of 8 bits are integers where the sum is.
template <unsigned kBits, unsigned kInstruction, unsigned kBlocks = 1>
NVF_FUNCTION void tcgen05_multiply(unsigned sum, unsigned long long a, unsigned long long b) {
  static_assert(kBits == 8 || kBits == 16 || kBits == 32, "a kind of the instruction");
  constexpr bool kIsInteger = (kInstruction >> 4 & 3) == kSumInt32;
  if (!BlockTensorMemory<32, kBlocks>::begins_products()) {
    return;
  }
  if constexpr (kBits == 32 && kBlocks == 2) {
    NVF_TCGEN05("2", "tf32");
  } else if constexpr (kBits == 32) {
    NVF_TCGEN05("1", "tf32");
  } else if constexpr (kBits == 16 && kBlocks == 2) {
    NVF_TCGEN05("2", "f16");
  } else if constexpr (kBits == 16) {
    NVF_TCGEN05("1", "f16");
  } else if constexpr (kIsInteger && kBlocks == 2) {
    NVF_TCGEN05("2", "i8");
  } else if constexpr (kIsInteger) {
    NVF_TCGEN05("1", "i8");
  } else if constexpr (kBlocks == 2) {
    NVF_TCGEN05("2", "f8f6f4");
  } else {
    NVF_TCGEN05("1", "f8f6f4");
  }
}
#undef NVF_TCGEN05
