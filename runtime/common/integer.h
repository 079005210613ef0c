// Integer arithmetic that is defined for all operands. Where C leaves the result undefined, it is
// the GPU's: x / 0 is all ones, x % 0 is x, the quotient of the smallest number and -1 wraps, and
// shifts by the width or more move every bit out.
//
// provides: divide modulo floor_remainder power shift_left shift_right gcd
// provides: absolute bit_ceil
// requires: types
#pragma once

template <typename T>
NVF_FUNCTION T wrapping_negate(T x) {
  return static_cast<T>(0 - static_cast<uint64_t>(x));
}

template <typename A, typename B>
NVF_FUNCTION auto divide(A dividend, B divisor) -> decltype(dividend + divisor) {
  using T = decltype(dividend + divisor);
  const T a = dividend;
  const T b = divisor;
  if (b == T(0)) {
    return T(-1);
  }
  return T(-1) < T(0) && b == T(-1) ? wrapping_negate(a) : a / b;
}
template <typename A, typename B>
NVF_FUNCTION auto modulo(A dividend, B divisor) -> decltype(dividend + divisor) {
  using T = decltype(dividend + divisor);
  const T a = dividend;
  const T b = divisor;
  if (b == T(0)) {
    return a;
  }
  return T(-1) < T(0) && b == T(-1) ? T(0) : a % b;
}
/// a - b * floor(a / b): the sign of b.
template <typename A, typename B>
NVF_FUNCTION auto floor_remainder(A a, B b) -> decltype(a + b) {
  const auto out = modulo(a, b);
  return out != 0 && (out < 0) != (b < 0) ? out + b : out;
}

/// Repeated multiplication, wrapping. A negative exponent rounds 1 / base^n toward zero.
template <typename A, typename B>
NVF_FUNCTION auto power(A base, B exponent) -> decltype(base + exponent) {
  using T = decltype(base + exponent);
  if (exponent < 0) {
    return base == 1 ? T(1) : base == A(-1) ? (exponent % 2 == 0 ? T(1) : T(-1)) : T(0);
  }
  uint64_t out = 1;
  uint64_t factor = static_cast<uint64_t>(base);
  for (uint64_t left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if (left & 1) {
      out *= factor;
    }
    factor *= factor;
  }
  return static_cast<T>(out);
}

template <typename T, typename N>
NVF_FUNCTION T shift_left(T value, N count) {
  constexpr int bits = 8 * sizeof(T);
  return count < 0 || count >= N(bits) ? T(0)
                                       : static_cast<T>(static_cast<uint64_t>(value) << count);
}
/// Fills with the sign.
template <typename T, typename N>
NVF_FUNCTION T shift_right(T value, N count) {
  constexpr int bits = 8 * sizeof(T);
  if (count < 0 || count >= N(bits)) {
    return value < T(0) ? T(-1) : T(0);
  }
  return static_cast<T>(value >> count);
}

template <typename T>
NVF_FUNCTION T absolute(T x) {
  return x < T(0) ? wrapping_negate(x) : x;
}

/// Greatest common divisor, >= 0; gcd(0, 0) is 0.
template <typename A, typename B>
NVF_FUNCTION auto gcd(A left, B right) -> decltype(left + right) {
  using T = decltype(left + right);
  T a = absolute<T>(left);
  T b = absolute<T>(right);
  while (b != 0) {
    const T rest = modulo(a, b);
    a = b;
    b = rest;
  }
  return absolute(a);
}

/// The smallest power of two that is not below x; 1 for x <= 1. One that is too large for the type
/// wraps.
template <typename T>
NVF_FUNCTION T bit_ceil(T x) {
  uint64_t out = 1;
  while (out != 0 && x > T(0) && out < static_cast<uint64_t>(x)) {
    out <<= 1;
  }
  return static_cast<T>(out);
}
