// Arrays of narrow elements that stay in their registers as they are.
//
// provides: keep_packed
// requires: types
#pragma once

/// The compiler does not know the elements of an array after this, which costs nothing: values that
/// it computed from them before, conversions above all, it computes anew where they are needed
/// again.
/// The array is aligned to 4 bytes.
template <int kElements, typename T>
NVF_FUNCTION void keep_packed(T* array) {
  uint32_t* words = reinterpret_cast<uint32_t*>(array);
#pragma unroll
  for (int i = 0; i < kElements * static_cast<int>(sizeof(T)) / 4; ++i) {
    asm volatile("" : "+r"(words[i]));
  }
}
