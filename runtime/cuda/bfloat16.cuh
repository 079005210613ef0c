// The upper half of a float: storage, and conversion that rounds to nearest even.
//
// provides: __bfloat
// requires: types cast
#pragma once

struct __bfloat {
  uint16_t bits;
};

template <>
struct LowPrecision<__bfloat> {
  static constexpr bool value = true;

  /// A shift, which the compiler sees through: behind a choice between two elements, `mov` of two
  /// halves costs a tenth of the kernel's time.
  NVF_FUNCTION static float to_float(__bfloat bfloat) {
    return __uint_as_float(static_cast<uint32_t>(bfloat.bits) << 16);
  }
  NVF_FUNCTION static __bfloat from_float(float value) {
    __bfloat out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out.bits) : "f"(value));
    return out;
  }

  /// Element by element, of two words that have two elements each.
  NVF_FUNCTION static uint32_t maximum_of_pairs(uint32_t a, uint32_t b) {
    uint32_t out;
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    return out;
  }
  NVF_FUNCTION static uint32_t minimum_of_pairs(uint32_t a, uint32_t b) {
    uint32_t out;
    asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    return out;
  }
};
