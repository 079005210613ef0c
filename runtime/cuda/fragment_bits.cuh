// Elements of fragments as instructions of tensor cores take them: four bytes of neighbours in one
// register, the first in its lowest bits.
//
// provides: register_bits
// requires: types
#pragma once

/// The register of 1, 2 or 4 elements.
template <typename T>
NVF_FUNCTION unsigned register_bits(const T* elements) {
  if constexpr (sizeof(T) == 4) {
    return bit_cast<unsigned>(elements[0]);
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<unsigned>(bit_cast<unsigned short>(elements[0])) |
           static_cast<unsigned>(bit_cast<unsigned short>(elements[1])) << 16;
  } else {
    unsigned bits = 0;
    for (int i = 0; i < 4; ++i) {
      bits |= static_cast<unsigned>(bit_cast<unsigned char>(elements[i])) << 8 * i;
    }
    return bits;
  }
}
