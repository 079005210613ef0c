// Floating point of eight bits: storage, and conversion that rounds to nearest even.
//
//   __e4m3  4 bits of exponent, 3 of mantissa; no infinity, one NaN; what is beyond 448 becomes 448
//   __e5m2  5 bits of exponent, 2 of mantissa; IEEE-like
//   __e8m0  8 bits of exponent: powers of two, no sign, no zero; 255: NaN
//
// OCP 8-bit Floating Point Specification 1.0 and Microscaling Formats 1.0. Bits are computed alike
// on every target: what does not fit becomes what PyTorch (2.13) makes of it.
//
// provides: __e4m3 __e5m2 __e8m0
// requires: types cast
#pragma once

/// Formats that are IEEE-like but for the largest exponent.
template <int kExponentBits, int kMantissaBits>
struct Float8Format {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kShift = 23 - kMantissaBits; // between the mantissas
  static constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias) << 23;

  NVF_FUNCTION static float to_float(uint8_t bits) {
    const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fu) << kShift;
    // 2^(1 - bias) * (1 + m) - 2^(1 - bias): the float that an unnormalized mantissa m stands for.
    constexpr uint32_t kSmallest = kRebias + (1u << 23);
    const float subnormal = bit_cast<float>(magnitude + kSmallest) - bit_cast<float>(kSmallest);
    const uint32_t value =
        magnitude < (1u << 23) ? bit_cast<uint32_t>(subnormal) : magnitude + kRebias;
    return bit_cast<float>(static_cast<uint32_t>(bits & 0x80u) << 24 | value);
  }

  /// Magnitude of a finite value in the format's range.
  NVF_FUNCTION static uint32_t rounded(uint32_t magnitude) {
    // Adding a float whose last place is the format's smallest number leaves the mantissa of a
    // subnormal result in the low bits, rounded by the adder.
    constexpr uint32_t kAligned = static_cast<uint32_t>(127 + 1 - kBias - kMantissaBits + 23) << 23;
    const uint32_t subnormal =
        bit_cast<uint32_t>(bit_cast<float>(magnitude) + bit_cast<float>(kAligned)) - kAligned;
    const uint32_t half = (1u << (kShift - 1)) - 1u + ((magnitude >> kShift) & 1u);
    const uint32_t normal = (magnitude - kRebias + half) >> kShift;
    return magnitude < kRebias + (1u << 23) ? subnormal : normal;
  }
};

struct __e4m3 {
  uint8_t bits;
};

template <>
struct LowPrecision<__e4m3> {
  static constexpr bool value = true;
  using Format = Float8Format<4, 3>;

  NVF_FUNCTION static float to_float(__e4m3 number) {
    const bool is_nan = (number.bits & 0x7fu) == 0x7fu;
    return is_nan ? quiet_nan<float>() : Format::to_float(number.bits);
  }
  NVF_FUNCTION static __e4m3 from_float(float value) {
    const uint32_t bits = bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t special = magnitude > 0x7f800000u ? 0x7fu : 0x7eu;
    const uint32_t out = magnitude >= 0x43e00000u ? special : Format::rounded(magnitude); // 448
    return {static_cast<uint8_t>((bits >> 24 & 0x80u) | out)};
  }
};

struct __e5m2 {
  uint8_t bits;
};

template <>
struct LowPrecision<__e5m2> {
  static constexpr bool value = true;
  using Format = Float8Format<5, 2>;

  NVF_FUNCTION static float to_float(__e5m2 number) {
    const uint32_t magnitude = number.bits & 0x7fu;
    const float special = magnitude == 0x7cu ? infinity<float>() : quiet_nan<float>();
    const float sign = (number.bits & 0x80u) != 0 ? -1.0f : 1.0f;
    return magnitude >= 0x7cu ? sign * special : Format::to_float(number.bits);
  }
  NVF_FUNCTION static __e5m2 from_float(float value) {
    const uint32_t bits = bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t special = magnitude > 0x7f800000u ? 0x7fu : 0x7cu;
    const uint32_t out = magnitude >= 0x47800000u ? special : Format::rounded(magnitude); // 65536
    return {static_cast<uint8_t>((bits >> 24 & 0x80u) | out)};
  }
};

struct __e8m0 {
  uint8_t bits;
};

template <>
struct LowPrecision<__e8m0> {
  static constexpr bool value = true;

  NVF_FUNCTION static float to_float(__e8m0 number) {
    const uint32_t power = static_cast<uint32_t>(number.bits) << 23;
    constexpr uint32_t kSmallest = 1u << 22; // 2^-127, a subnormal float
    return number.bits == 0xffu ? quiet_nan<float>()
                                : bit_cast<float>(number.bits == 0 ? kSmallest : power);
  }
  /// The nearest power of two of the magnitude; of two equally near ones the larger. Subnormal
  /// floats above 2^-127 become 2^-126.
  NVF_FUNCTION static __e8m0 from_float(float value) {
    const uint32_t bits = bit_cast<uint32_t>(value) & 0x7fffffffu;
    const uint32_t exponent = bits >> 23;
    const uint32_t fraction = bits & 0x7fffffu;
    const bool is_up = exponent == 0 ? fraction > 0x400000u : fraction >= 0x400000u;
    return {static_cast<uint8_t>(exponent == 0xffu ? 0xffu : exponent + (is_up ? 1u : 0u))};
  }
};
