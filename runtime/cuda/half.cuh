// IEEE 16-bit floating point: storage, and conversion that rounds to nearest even.
//
// provides: __half
// requires: types cast
#pragma once

struct __half {
  uint16_t bits;
};

template <>
struct LowPrecision<__half> {
  static constexpr bool value = true;

  NVF_FUNCTION static float to_float(__half half) {
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(half.bits));
    return out;
  }
  NVF_FUNCTION static __half from_float(float value) {
    __half out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out.bits) : "f"(value));
    return out;
  }

  /// Element by element, of two words that have two elements each.
  NVF_FUNCTION static uint32_t maximum_of_pairs(uint32_t a, uint32_t b) {
    uint32_t out;
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    return out;
  }
  NVF_FUNCTION static uint32_t minimum_of_pairs(uint32_t a, uint32_t b) {
    uint32_t out;
    asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    return out;
  }
};
