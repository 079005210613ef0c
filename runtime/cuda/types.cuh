// Fixed-width integers and the special values of floating point. Stands first in every kernel.
//
// provides: int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t infinity
// provides: quiet_nan bit_cast
#pragma once

/// Qualifiers of every function of the runtime.
#define NVF_FUNCTION __device__ inline
/// Stands before loops that address arrays in registers.
#define NVF_UNROLLED _Pragma("unroll")

using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;

template <typename T>
NVF_FUNCTION T infinity();
template <>
NVF_FUNCTION float infinity<float>() {
  return __int_as_float(0x7f800000);
}
template <>
NVF_FUNCTION double infinity<double>() {
  return __longlong_as_double(0x7ff0000000000000ll);
}

template <typename T>
NVF_FUNCTION T quiet_nan();
template <>
NVF_FUNCTION float quiet_nan<float>() {
  return __int_as_float(0x7fc00000);
}
template <>
NVF_FUNCTION double quiet_nan<double>() {
  return __longlong_as_double(0x7ff8000000000000ll);
}

/// The same bits as another type of the same size.
template <typename To, typename From>
NVF_FUNCTION To bit_cast(const From& value) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
  return __builtin_bit_cast(To, value);
}

/// Floating point to an integer of 32 or 64 bits: truncates and saturates; NaN gives 0 for float to
/// 32 bits and the smallest value else. The hardware does the same.
template <typename To, typename From>
NVF_FUNCTION To truncate_to(From value) {
  return static_cast<To>(value);
}
