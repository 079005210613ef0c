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
  static constexpr int kExponentBits = 5;

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
};
