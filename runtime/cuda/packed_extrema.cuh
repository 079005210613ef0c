// Maximum and minimum of register arrays of 16-bit floats, two elements at a time. They are exact,
// in whatever order, and a NaN is the result as in minmax.cuh.
//
// provides: packed_maximum packed_minimum
// requires: types cast minmax
#pragma once

#define NVF_OF_PAIRS(instruction) asm(instruction " %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b))

/// Element by element, of two words that have two elements each.
template <typename T, bool kLargest>
NVF_FUNCTION uint32_t extremum_of_pairs(uint32_t a, uint32_t b) {
  constexpr bool kIsHalf = LowPrecision<T>::kExponentBits == 5;
  uint32_t out;
  if constexpr (kIsHalf && kLargest) {
    NVF_OF_PAIRS("max.NaN.f16x2");
  } else if constexpr (kIsHalf) {
    NVF_OF_PAIRS("min.NaN.f16x2");
  } else if constexpr (kLargest) {
    NVF_OF_PAIRS("max.NaN.bf16x2");
  } else {
    NVF_OF_PAIRS("min.NaN.bf16x2");
  }
  return out;
}

#undef NVF_OF_PAIRS

/// The array consists of whole words.
template <int kElements, bool kLargest, typename T>
NVF_FUNCTION float packed_extremum(const T* array) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(array);
  uint32_t both = words[0];
#pragma unroll
  for (int i = 1; i < kElements / 2; ++i) {
    both = extremum_of_pairs<T, kLargest>(both, words[i]);
  }
  T halves[2];
  memcpy(halves, &both, sizeof(both));
  const float first = cast<float>(halves[0]);
  const float second = cast<float>(halves[1]);
  return kLargest ? maximum(first, second) : minimum(first, second);
}

template <int kElements, typename T>
NVF_FUNCTION float packed_maximum(const T* array) {
  return packed_extremum<kElements, true>(array);
}
template <int kElements, typename T>
NVF_FUNCTION float packed_minimum(const T* array) {
  return packed_extremum<kElements, false>(array);
}
