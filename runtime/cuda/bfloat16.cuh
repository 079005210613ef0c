// The upper half of a float: storage, and conversion that rounds to nearest even.
//
// provides: __bfloat rounded_to_bfloat
// requires: types cast
#pragma once

struct __bfloat {
  uint16_t bits;
};

template <>
struct LowPrecision<__bfloat> {
  static constexpr bool value = true;
  static constexpr int kExponentBits = 8;

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
};

/// The Float that `value` rounded to a __bfloat stands for: one instruction, which makes a pair of
/// elements of it and of 0, below.
NVF_FUNCTION float rounded_to_bfloat(float value) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(value), "f"(0.0f));
  return __uint_as_float(pair);
}
