// Floating point of four bits: a sign, 2 bits of exponent, 1 of mantissa. Magnitudes by their code
// are 0, 0.5, 1, 1.5, 2, 3, 4, 6; there is no infinity and no NaN (OCP Microscaling Formats 1.0).
//
// A number is a byte in registers and shared memory. Global memory has pairs, the first of a pair
// in the low half of the byte: elements are read singly or in vectors of an even width, and written
// in such vectors only, so that no two threads share a byte.
//
// provides: __e2m1
// requires: types cast tensor vector
#pragma once

struct __e2m1 {
  uint8_t bits; // the high half is 0
};

/// Two numbers in global memory.
struct __e2m1_x2 {
  uint8_t bits;
};

/// Codes are a line over each of the magnitudes [0, 2], [2, 4] and [4, 6], less steep each time:
/// what lies on one line is the least of all three.
template <>
struct LowPrecision<__e2m1> {
  static constexpr bool value = true;

  NVF_FUNCTION static float to_float(__e2m1 number) {
    // The code as exponent and mantissa: an eighth for 0, a quarter of the number from 1 on.
    const float scaled = bit_cast<float>(0x3e000000u | (number.bits & 7u) << 22);
    const uint32_t subnormal = bit_cast<uint32_t>(8.0f * scaled - 1.0f); // exact up to 1
    const uint32_t normal = bit_cast<uint32_t>(4.0f * scaled);
    const uint32_t magnitude = subnormal < normal ? subnormal : normal; // as of positive floats
    return bit_cast<float>((number.bits & 8u) << 28 | magnitude);
  }

  /// The nearest number; of two equally near ones that of the even code. Numbers beyond 6 become 6,
  /// and so does NaN, without its sign.
  NVF_FUNCTION static __e2m1 from_float(float value) {
    const uint32_t bits = bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const float bounded = bit_cast<float>(magnitude < 0x40c00000u ? magnitude : 0x40c00000u); // 6
    const uint32_t first = last_place<149>(bounded);                                          // 2x
    const uint32_t second = last_place<150>(bounded) + 2u; // x + 2
    const uint32_t third = last_place<151>(bounded) + 4u;  // x / 2 + 4
    const uint32_t least = first < second ? first : second;
    const uint32_t code = third < least ? third : least;
    const uint32_t sign = magnitude > 0x7f800000u ? 0u : bits >> 28 & 8u;
    return {static_cast<uint8_t>(sign | code)};
  }

 private:
  /// `value` in units of the last place of 2^(kExponent - 127), rounded by the adder to the nearest
  /// integer, ties to even.
  template <uint32_t kExponent>
  NVF_FUNCTION static uint32_t last_place(float value) {
    constexpr uint32_t kPower = kExponent << 23;
    return bit_cast<uint32_t>(value + bit_cast<float>(kPower)) - kPower;
  }
};

template <>
struct TensorMemory<__e2m1> {
  __e2m1_x2* data;

  /// A copy of one element.
  NVF_FUNCTION __e2m1 operator[](nvfuser_index_t index) const {
    const uint32_t shift = static_cast<uint32_t>(index & 1) * 4u;
    return {static_cast<uint8_t>(data[index >> 1].bits >> shift & 0xfu)};
  }
  /// The pairs from element `index` on, which is even.
  NVF_FUNCTION __e2m1_x2* pairs(nvfuser_index_t index) const {
    return data + (index >> 1);
  }
};

/// Pairs are taken apart and put together in words, which stay in registers.
template <int kBytes>
struct PairWord {
  using Type = uint32_t;
};
template <>
struct PairWord<1> {
  using Type = uint8_t;
};
template <>
struct PairWord<2> {
  using Type = uint16_t;
};

template <int kLanes>
struct PairWords {
  static constexpr int kBytes = kLanes / 2;
  static constexpr int kWordLanes = kLanes < 8 ? kLanes : 8;
  using Word = typename PairWord<kWordLanes / 2>::Type;

  alignas(kBytes < 16 ? kBytes : 16) Word words[kLanes / kWordLanes];

  NVF_FUNCTION __e2m1_x2* pairs() {
    return reinterpret_cast<__e2m1_x2*>(words);
  }
};

/// Load `kLanes` elements, an even number. `kAccess`: as for elements of whole bytes.
template <int kLanes, auto... kAccess>
NVF_FUNCTION void copy_vector(__e2m1* to, const __e2m1_x2* from) {
  using Words = PairWords<kLanes>;
  Words memory;
  copy_vector<Words::kBytes, kAccess...>(memory.pairs(), from);
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t word = memory.words[i / Words::kWordLanes];
    to[i].bits = static_cast<uint8_t>(word >> (4 * (i % Words::kWordLanes)) & 0xfu);
  }
}

/// Store `kLanes` elements, an even number.
template <int kLanes, auto... kAccess>
NVF_FUNCTION void copy_vector(__e2m1_x2* to, const __e2m1* from) {
  using Words = PairWords<kLanes>;
  Words memory;
  for (int first = 0; first < kLanes; first += Words::kWordLanes) {
    uint32_t word = 0;
    for (int i = 0; i < Words::kWordLanes; ++i) {
      word |= static_cast<uint32_t>(from[first + i].bits) << (4 * i);
    }
    memory.words[first / Words::kWordLanes] = static_cast<typename Words::Word>(word);
  }
  copy_vector<Words::kBytes, kAccess...>(to, memory.pairs());
}

template <int kLanes, auto... kAccess>
NVF_FUNCTION void fill_vector(__e2m1_x2* to, __e2m1 value) {
  __e2m1 elements[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    elements[i] = value;
  }
  copy_vector<kLanes, kAccess...>(to, elements);
}
