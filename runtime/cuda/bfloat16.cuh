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

  /// One instruction, also for the upper half of a register: a shift would need it moved first.
  NVF_FUNCTION static float to_float(__bfloat bfloat) {
    float out;
    const uint16_t low = 0;
    asm("mov.b32 %0, {%1, %2};" : "=f"(out) : "h"(low), "h"(bfloat.bits));
    return out;
  }
  NVF_FUNCTION static __bfloat from_float(float value) {
    __bfloat out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out.bits) : "f"(value));
    return out;
  }
};
