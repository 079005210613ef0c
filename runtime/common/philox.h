// Random numbers: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw 2011), and distributions on it.
//
// A number is a function of the seed, the offset and the position of its element: the element at
// `counter * lanes + lane` of the tensor takes result `lane` of the block cipher at `counter`. So a
// value is the same under any schedule, on any target, and four neighbours can share one cipher.
//
// provides: PhiloxKeys philox_keys random_steps random_uniform random_uniform_range
// provides: random_normal random_normal_general
// requires: types cast libm
#pragma once

struct PhiloxBlock {
  uint32_t words[4];
};

constexpr int kPhiloxRounds = 10;

/// Two for each round. They follow from the seed alone, so a launch computes those of a run.
struct PhiloxKeys {
  uint32_t words[2 * kPhiloxRounds];
};

NVF_FUNCTION PhiloxKeys philox_keys(uint64_t seed) {
  PhiloxKeys keys;
  uint32_t key0 = static_cast<uint32_t>(seed);
  uint32_t key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    keys.words[2 * round] = key0;
    keys.words[2 * round + 1] = key1;
    key0 += 0x9e3779b9u; // golden ratio
    key1 += 0xbb67ae85u; // sqrt(3) - 1
  }
  return keys;
}

/// Rounds of multiplication and key addition. The counter's low half is the offset, its high half
/// the position.
NVF_FUNCTION PhiloxBlock philox(const PhiloxKeys& keys, uint64_t offset, uint64_t position) {
  uint32_t c0 = static_cast<uint32_t>(offset);
  uint32_t c1 = static_cast<uint32_t>(offset >> 32);
  uint32_t c2 = static_cast<uint32_t>(position);
  uint32_t c3 = static_cast<uint32_t>(position >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t product0 = static_cast<uint64_t>(0xd2511f53u) * c0;
    const uint64_t product1 = static_cast<uint64_t>(0xcd9e8d57u) * c2;
    c0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ keys.words[2 * round];
    c1 = static_cast<uint32_t>(product1);
    c2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ keys.words[2 * round + 1];
    c3 = static_cast<uint32_t>(product0);
  }
  return {{c0, c1, c2, c3}};
}

NVF_FUNCTION uint32_t word_of(const PhiloxBlock& block, int lane) {
  const uint32_t low = (lane & 1) != 0 ? block.words[1] : block.words[0];
  const uint32_t high = (lane & 1) != 0 ? block.words[3] : block.words[2];
  return (lane & 2) != 0 ? high : low;
}
NVF_FUNCTION uint64_t wide_word_of(const PhiloxBlock& block, int lane) {
  return lane != 0 ? static_cast<uint64_t>(block.words[3]) << 32 | block.words[2]
                   : static_cast<uint64_t>(block.words[1]) << 32 | block.words[0];
}

/// Floats of 16 bits and fewer are drawn as float and rounded.
template <typename T>
struct DrawnType {
  using Type = float;
};
template <>
struct DrawnType<double> {
  using Type = double;
};

/// A number in [0, 1) as steps of 2^-24.
NVF_FUNCTION uint32_t
random_steps(const PhiloxKeys& keys, uint64_t offset, uint64_t counter, int lane) {
  return word_of(philox(keys, offset, counter), lane) >> 8;
}

/// Multiples of 2^-24 (2^-53) in [0, 1).
template <typename Drawn>
NVF_FUNCTION Drawn
unit_interval(const PhiloxKeys& keys, uint64_t offset, uint64_t counter, int lane) {
  if constexpr (sizeof(Drawn) == 8) {
    const PhiloxBlock block = philox(keys, offset, counter);
    return static_cast<double>(wide_word_of(block, lane) >> 11) * 0x1p-53;
  } else {
    return static_cast<float>(random_steps(keys, offset, counter, lane)) * 0x1p-24f;
  }
}

template <int kBytes>
struct BitsOfSize {
  using Type = uint8_t;
};
template <>
struct BitsOfSize<2> {
  using Type = uint16_t;
};
template <>
struct BitsOfSize<4> {
  using Type = uint32_t;
};
template <>
struct BitsOfSize<8> {
  using Type = uint64_t;
};

/// The next smaller number of the type; `x` is finite.
template <typename T>
NVF_FUNCTION T number_below(T x) {
  using Bits = typename BitsOfSize<sizeof(T)>::Type;
  const Bits sign = bit_cast<Bits>(cast<T>(-0.0f)); // no bit of e8m0
  const Bits bits = bit_cast<Bits>(x);
  const bool is_zero = static_cast<Bits>(bits & ~sign) == 0;
  const bool is_negative = (bits & sign) != 0;
  return bit_cast<T>(static_cast<Bits>(is_zero ? sign | 1 : is_negative ? bits + 1 : bits - 1));
}

NVF_FUNCTION float multiply_add(float a, float b, float c) {
  return fmaf(a, b, c);
}
NVF_FUNCTION double multiply_add(double a, double b, double c) {
  return fma(a, b, c);
}

/// A bound as the type has it; one beyond its numbers is unchanged.
template <typename T, typename Drawn>
NVF_FUNCTION Drawn rounded_bound(Drawn bound) {
  const Drawn rounded = cast<Drawn>(cast<T>(bound));
  return rounded - rounded == 0 ? rounded : bound;
}
/// In [low, high) of rounded bounds, also where the type's rounding would reach `high`.
template <typename T, typename Drawn>
NVF_FUNCTION T random_uniform_range(
    const PhiloxKeys& keys, uint64_t offset, uint64_t counter, int lane, Drawn low, Drawn high) {
  const Drawn first = rounded_bound<T>(low);
  const Drawn end = rounded_bound<T>(high);
  const Drawn unit = unit_interval<Drawn>(keys, offset, counter, lane);
  const T value = cast<T>(multiply_add(unit, end - first, first));
  return first < end && cast<Drawn>(value) >= end ? number_below(cast<T>(end)) : value;
}
template <typename T>
NVF_FUNCTION T random_uniform(const PhiloxKeys& keys, uint64_t offset, uint64_t counter, int lane) {
  using Drawn = typename DrawnType<T>::Type;
  const T value = cast<T>(unit_interval<Drawn>(keys, offset, counter, lane));
  if constexpr (sizeof(T) == sizeof(Drawn)) {
    return value; // no rounding reached 1
  } else {
    return cast<Drawn>(value) < Drawn(1) ? value : number_below(value);
  }
}

/// Box and Muller 1958: two uniform numbers make two independent normal ones.
template <typename Drawn>
NVF_FUNCTION Drawn
standard_normal(const PhiloxKeys& keys, uint64_t offset, uint64_t counter, int lane) {
  const PhiloxBlock block = philox(keys, offset, counter);
  if constexpr (sizeof(Drawn) == 8) {
    const double distance = static_cast<double>(wide_word_of(block, 0) >> 11) * 0x1p-53 + 0x1p-54;
    const double turn = static_cast<double>(wide_word_of(block, 1) >> 11) * 0x1p-53;
    const double radius = sqrt(-2.0 * log(distance));
    const double angle = turn * 6.283185307179586;
    return radius * (lane != 0 ? sin(angle) : cos(angle));
  } else {
    const float distance = static_cast<float>(word_of(block, lane & 2)) * 0x1p-32f + 0x1p-33f;
    const float turn = static_cast<float>(word_of(block, lane | 1) >> 8) * 0x1p-24f;
    const float radius = sqrtf(-2.0f * logf(distance));
    const float angle = turn * 6.2831855f;
    return radius * ((lane & 1) != 0 ? sinf(angle) : cosf(angle));
  }
}
template <typename T>
NVF_FUNCTION T random_normal(const PhiloxKeys& keys, uint64_t offset, uint64_t counter, int lane) {
  return cast<T>(standard_normal<typename DrawnType<T>::Type>(keys, offset, counter, lane));
}
template <typename T, typename Drawn>
NVF_FUNCTION T random_normal_general(
    const PhiloxKeys& keys,
    uint64_t offset,
    uint64_t counter,
    int lane,
    Drawn mean,
    Drawn deviation) {
  return cast<T>(
      multiply_add(standard_normal<Drawn>(keys, offset, counter, lane), deviation, mean));
}
