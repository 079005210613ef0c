// IEEE 16-bit floating point: storage, and conversion that rounds to nearest even.
//
// Both conversions are selects between results that are all computed, so that loops over them
// become vector code without a vector instruction for the conversion itself.
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
    const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000u) << 16;
    const uint32_t shifted = static_cast<uint32_t>(half.bits & 0x7fffu) << 13;
    const uint32_t exponent = shifted & 0x0f800000u;
    const uint32_t normal = shifted + (112u << 23);  // the bias: 127 - 15
    const uint32_t special = shifted + (224u << 23); // infinity and NaN: exponent of all ones
    // 2^-14 * (1 + m) - 2^-14: the float that an unnormalized mantissa m stands for.
    const float subnormal = bit_cast<float>(shifted + (113u << 23)) - bit_cast<float>(113u << 23);
    const uint32_t magnitude = exponent == 0             ? bit_cast<uint32_t>(subnormal)
                               : exponent == 0x0f800000u ? special
                                                         : normal;
    return bit_cast<float>(sign | magnitude);
  }

  NVF_FUNCTION static __half from_float(float value) {
    const uint32_t bits = bit_cast<uint32_t>(value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    // Adding 0.5 leaves the mantissa of a subnormal result in the low bits, rounded by the adder.
    const uint32_t subnormal =
        bit_cast<uint32_t>(bit_cast<float>(magnitude) + 0.5f) - bit_cast<uint32_t>(0.5f);
    // Half a unit of the last place, less one if that place is even; a carry runs into the
    // exponent, up to infinity.
    const uint32_t normal = (magnitude - (112u << 23) + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
    const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const uint32_t out = magnitude >= 0x47800000u  ? special   // 65536 and above
                         : magnitude < 0x38800000u ? subnormal // below 2^-14
                                                   : normal;
    return {static_cast<uint16_t>(sign | out)};
  }
};
