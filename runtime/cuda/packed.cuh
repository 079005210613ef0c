// Arrays of narrow elements that stay in their registers as they are.
//
// provides: keep_packed
// requires: types
#pragma once

/// What an array holds is unknown to the compiler after this, which costs nothing: what it computed
/// of the elements before, conversions above all, it computes anew where that is needed again.
/// The array is aligned to 4 bytes.
template <int kElements, typename T>
NVF_FUNCTION void keep_packed(T* array) {
  uint32_t* words = reinterpret_cast<uint32_t*>(array);
#pragma unroll
  for (int i = 0; i < kElements * static_cast<int>(sizeof(T)) / 4; ++i) {
    asm volatile("" : "+r"(words[i]));
  }
}
