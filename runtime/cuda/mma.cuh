// Products of matrices by tensor cores. Compute capability 8.0 and above; of fp8, 8.9 and above.
//
// All lanes of a warp come to the instruction together. Each passes its fragments of the factors,
// and of the sum that the product is added to: registers that lie next to each other, as
// transform/fragments.h of the compiler tells.
//
// provides: mma_m16n8k16_bf16 mma_m16n8k16_f16 mma_m16n8k8_tf32 mma_m16n8k32_s8
// provides: mma_m16n8k32_e4m3 mma_m16n8k32_e4m3_e5m2 mma_m16n8k32_e5m2_e4m3 mma_m16n8k32_e5m2
// requires: types fragment_bits
#pragma once

/// A register of four bytes holds `kHeld` elements of a factor.
#define NVF_MMA(NAME, SHAPE_AND_TYPES, SUM, CONSTRAINT)                                    \
  template <typename A, typename B>                                                        \
  NVF_FUNCTION void NAME(SUM* sum, const A* a, const B* b) {                               \
    constexpr int kHeld = 4 / sizeof(A);                                                   \
    asm volatile("mma.sync.aligned." SHAPE_AND_TYPES                                       \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"        \
                 : "+" CONSTRAINT(sum[0]), "+" CONSTRAINT(sum[1]), "+" CONSTRAINT(sum[2]), \
                   "+" CONSTRAINT(sum[3])                                                  \
                 : "r"(register_bits(a)), "r"(register_bits(a + kHeld)),                   \
                   "r"(register_bits(a + 2 * kHeld)), "r"(register_bits(a + 3 * kHeld)),   \
                   "r"(register_bits(b)), "r"(register_bits(b + kHeld)));                  \
  }
#if __CUDA_ARCH__ >= 800
NVF_MMA(mma_m16n8k16_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
NVF_MMA(mma_m16n8k16_f16, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
NVF_MMA(mma_m16n8k8_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
NVF_MMA(mma_m16n8k32_s8, "m16n8k32.row.col.s32.s8.s8.s32", int, "r")
#endif
#if __CUDA_ARCH__ >= 890
NVF_MMA(mma_m16n8k32_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")
NVF_MMA(mma_m16n8k32_e4m3_e5m2, "m16n8k32.row.col.f32.e4m3.e5m2.f32", float, "f")
NVF_MMA(mma_m16n8k32_e5m2_e4m3, "m16n8k32.row.col.f32.e5m2.e4m3.f32", float, "f")
NVF_MMA(mma_m16n8k32_e5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32", float, "f")
#endif
#undef NVF_MMA
