// Products of matrices by tensor cores. Compute capability 8.0 and above.
//
// All lanes of a warp come to the instruction together. Each passes its fragments of the factors,
// and of the sum that the product is added to: registers that lie next to each other, as
// transform/fragments.h of the compiler tells.
//
// provides: mma_m16n8k16_bf16 mma_m16n8k16_f16
// requires: types
#pragma once

/// Two elements of 16 bits, the first in the lower half.
template <typename T>
NVF_FUNCTION unsigned pair_bits(const T* elements) {
  return static_cast<unsigned>(elements[0].bits) | static_cast<unsigned>(elements[1].bits) << 16;
}

#if __CUDA_ARCH__ >= 800
#define NVF_MMA_M16N8K16(NAME, TYPES)                                                \
  template <typename T>                                                              \
  NVF_FUNCTION void NAME(float* sum, const T* a, const T* b) {                       \
    asm volatile("mma.sync.aligned.m16n8k16.row.col." TYPES                          \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"  \
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])            \
                 : "r"(pair_bits(a)), "r"(pair_bits(a + 2)), "r"(pair_bits(a + 4)),  \
                   "r"(pair_bits(a + 6)), "r"(pair_bits(b)), "r"(pair_bits(b + 2))); \
  }
NVF_MMA_M16N8K16(mma_m16n8k16_bf16, "f32.bf16.bf16.f32")
NVF_MMA_M16N8K16(mma_m16n8k16_f16, "f32.f16.f16.f32")
#undef NVF_MMA_M16N8K16
#endif
