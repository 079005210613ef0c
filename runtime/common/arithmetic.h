// Operations on one to three real numbers that have no name in C.
//
// provides: frac floor_remainder clamp lerp threshold power
// requires: types libm
#pragma once

/// x - trunc(x), with the sign of x.
NVF_FUNCTION float frac(float x) {
  return x - truncf(x);
}
NVF_FUNCTION double frac(double x) {
  return x - trunc(x);
}

/// a - b * floor(a / b): the sign of b. Exact, like fmod.
NVF_FUNCTION float floor_remainder(float a, float b) {
  const float out = fmodf(a, b);
  return out != 0 && (b < 0) != (out < 0) ? out + b : out;
}
NVF_FUNCTION double floor_remainder(double a, double b) {
  const double out = fmod(a, b);
  return out != 0 && (b < 0) != (out < 0) ? out + b : out;
}

/// A NaN stays; if the bounds cross, the upper one counts.
template <typename T>
NVF_FUNCTION T clamp(T x, T low, T high) {
  const T raised = x < low || low != low ? low : x; // NaN stays, also as a bound
  return raised > high || high != high ? high : raised;
}
template <typename T>
NVF_FUNCTION T lerp(T start, T end, T weight) {
  return start + weight * (end - start);
}
template <typename T>
NVF_FUNCTION T threshold(T x, T limit, T value) {
  return x <= limit ? value : x;
}

/// x to a small constant exponent by repeated multiplication.
template <int kExponent, typename T>
NVF_FUNCTION T power(T x) {
  if constexpr (kExponent < 0) {
    return T(1) / power<-kExponent>(x);
  } else if constexpr (kExponent <= 1) {
    return kExponent == 0 ? T(1) : x;
  } else {
    const T root = power<kExponent / 2>(x);
    return kExponent % 2 == 0 ? root * root : root * root * x;
  }
}
