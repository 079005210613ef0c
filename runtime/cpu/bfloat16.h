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

  NVF_FUNCTION static float to_float(__bfloat bfloat) {
    return bit_cast<float>(static_cast<uint32_t>(bfloat.bits) << 16);
  }
  NVF_FUNCTION static __bfloat from_float(float value) {
    const uint32_t bits = bit_cast<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return {static_cast<uint16_t>(value != value ? 0x7fc0u : rounded)};
  }
};
