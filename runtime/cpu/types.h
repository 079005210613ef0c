// Fixed-width integers and the special values of floating point. Stands first in every kernel.
//
// provides: int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t infinity
// provides: quiet_nan bit_cast
#pragma once

/// Qualifiers of every function of the runtime.
#define NVF_FUNCTION inline
/// Stands before loops that address arrays, which a processor has in memory.
#define NVF_UNROLLED

using int8_t = __INT8_TYPE__;
using uint8_t = __UINT8_TYPE__;
using int16_t = __INT16_TYPE__;
using uint16_t = __UINT16_TYPE__;
using int32_t = __INT32_TYPE__;
using uint32_t = __UINT32_TYPE__;
using int64_t = __INT64_TYPE__;
using uint64_t = __UINT64_TYPE__;

template <typename T>
NVF_FUNCTION T infinity() {
  return static_cast<T>(__builtin_inf());
}

template <typename T>
NVF_FUNCTION T quiet_nan() {
  return static_cast<T>(__builtin_nan(""));
}

/// The same bits as another type of the same size.
template <typename To, typename From>
NVF_FUNCTION To bit_cast(const From& value) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
  To out;
  __builtin_memcpy(&out, &value, sizeof(To));
  return out;
}

/// Floating point to an integer of 32 or 64 bits: truncates and saturates; NaN gives 0 for float to
/// 32 bits and the smallest value else. The GPU's result, where C++ leaves it undefined.
template <typename To, typename From>
NVF_FUNCTION To truncate_to(From value) {
  constexpr bool is_signed = To(-1) < To(0);
  constexpr int bits = 8 * sizeof(To);
  // 2^(bits - 1) or 2^bits: the first value that does not fit. Exact in every floating type.
  constexpr From above = From(uint64_t(1) << (bits - 2)) * From(is_signed ? 2 : 4);
  constexpr From below = is_signed ? -above : From(0);
  constexpr To lowest = is_signed ? To(uint64_t(1) << (bits - 1)) : To(0);
  constexpr To highest = is_signed ? To((uint64_t(1) << (bits - 1)) - 1) : To(-1);
  constexpr To of_nan = bits == 32 && sizeof(From) == 4 ? To(0) : To(uint64_t(1) << (bits - 1));
  return value != value   ? of_nan
         : value >= above ? highest
         : value <= below ? lowest
                          : static_cast<To>(value);
}
