// Maximum and minimum of register arrays of 16-bit floats, two elements at a time. They are exact,
// in whatever order, and a NaN is the result as in minmax.cuh.
//
// provides: packed_maximum packed_minimum
// requires: types cast minmax
#pragma once

/// The array consists of whole words.
template <int kElements, typename T>
NVF_FUNCTION float packed_maximum(const T* array) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(array);
  uint32_t both = words[0];
#pragma unroll
  for (int i = 1; i < kElements / 2; ++i) {
    both = LowPrecision<T>::maximum_of_pairs(both, words[i]);
  }
  T halves[2];
  memcpy(halves, &both, sizeof(both));
  return maximum(cast<float>(halves[0]), cast<float>(halves[1]));
}
template <int kElements, typename T>
NVF_FUNCTION float packed_minimum(const T* array) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(array);
  uint32_t both = words[0];
#pragma unroll
  for (int i = 1; i < kElements / 2; ++i) {
    both = LowPrecision<T>::minimum_of_pairs(both, words[i]);
  }
  T halves[2];
  memcpy(halves, &both, sizeof(both));
  return minimum(cast<float>(halves[0]), cast<float>(halves[1]));
}
