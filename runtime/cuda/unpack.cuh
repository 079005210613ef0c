// Elements of 16 bits, read from the registers that hold two of them.
//
// provides: unpack
// requires: types bfloat16
#pragma once

/// Element `i` of an array of whole words, one instruction for each: a shift, or a mask. `i` is
/// constant once loops are unrolled.
template <typename Index>
NVF_FUNCTION float unpack(const __bfloat* array, Index i) {
  const uint32_t word = reinterpret_cast<const uint32_t*>(array)[i / 2];
  return __uint_as_float(i % 2 == 0 ? word << 16 : word & 0xffff0000u);
}
