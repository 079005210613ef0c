// Hyperbolic and inverse functions of float that become vector code in a loop: choices between
// values that are all computed. Errors are below 3 units in the last place.
//
// provides: sinhf coshf asinhf acoshf atanhf asinf acosf atanf
// requires: types vector_math
#pragma once

NVF_FUNCTION float magnitude_of(float x) {
  return bit_cast<float>(bit_cast<uint32_t>(x) & 0x7fffffffu);
}

NVF_FUNCTION float sinhf(float x) {
  const float a = magnitude_of(x);
  const float t = expm1f(a > 2.0f ? 2.0f : a);
  const float near_zero = 0.5f * (t + t / (t + 1.0f));
  const float e = scaled_exp(a, -1); // e^a / 2
  const float far = e - 0.25f / e;
  return with_sign_of(a < 1.0f ? near_zero : far, x);
}
NVF_FUNCTION float coshf(float x) {
  const float e = scaled_exp(magnitude_of(x), -1);
  return e + 0.25f / e;
}

NVF_FUNCTION float asinhf(float x) {
  const float a = magnitude_of(x);
  const float square = a * a;
  const float small = log1pf(a + square / (1.0f + __builtin_sqrtf(square + 1.0f)));
  const float large = logf(a) + 0.693147181f;
  return with_sign_of(a > 1e8f ? large : small, x);
}
NVF_FUNCTION float acoshf(float x) {
  const float t = x - 1.0f;
  const float small = log1pf(t + __builtin_sqrtf(2.0f * t + t * t));
  const float large = logf(x) + 0.693147181f;
  const float defined = x > 1e8f ? large : small;
  return x >= 1.0f ? defined : quiet_nan<float>();
}
NVF_FUNCTION float atanhf(float x) {
  const float a = magnitude_of(x);
  return with_sign_of(0.5f * log1pf(2.0f * a / (1.0f - a)), x);
}

/// asin(s) for s in [0, 0.71], where z = s^2.
NVF_FUNCTION float small_arcsine(float s, float z) {
  float p = 4.2163199048e-2f;
  p = p * z + 2.4181311049e-2f;
  p = p * z + 4.5470025998e-2f;
  p = p * z + 7.4953002686e-2f;
  p = p * z + 1.6666752422e-1f;
  return s + s * z * p;
}

constexpr float kHalfPi = 1.57079632679f;

NVF_FUNCTION float asinf(float x) {
  const float a = magnitude_of(x);
  // Near 1 by the half of the angle: asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2))
  const bool is_near_one = a > 0.5f;
  const float z = is_near_one ? 0.5f * (1.0f - a) : a * a;
  const float s = is_near_one ? __builtin_sqrtf(z) : a;
  const float arc = small_arcsine(s, z);
  return with_sign_of(is_near_one ? kHalfPi - 2.0f * arc : arc, x);
}
NVF_FUNCTION float acosf(float x) {
  const float a = magnitude_of(x);
  const bool is_near_one = a > 0.5f;
  const float z = is_near_one ? 0.5f * (1.0f - a) : a * a;
  const float s = is_near_one ? __builtin_sqrtf(z) : x;
  const float arc = small_arcsine(s, z);
  const float twice = 2.0f * arc;
  const float far = x < 0.0f ? 2.0f * kHalfPi - twice : twice;
  return is_near_one ? far : kHalfPi - arc;
}

NVF_FUNCTION float atanf(float x) {
  // atan(a) = pi / 2 + atan(-1 / a) = pi / 4 + atan((a - 1) / (a + 1))
  const float a = magnitude_of(x);
  const bool is_large = a > 2.41421356f;
  const bool is_middle = a > 0.41421356f;
  const float above = is_large ? -1.0f : a - 1.0f;
  const float below = is_large ? a : a + 1.0f;
  const float start = is_large ? kHalfPi : 0.5f * kHalfPi;
  const float r = is_middle ? above / below : a;
  const float z = r * r;
  float p = 8.05374449538e-2f;
  p = p * z - 1.38776856032e-1f;
  p = p * z + 1.99777106478e-1f;
  p = p * z - 3.33329491539e-1f;
  const float arc = r + r * z * p;
  return with_sign_of(is_middle ? start + arc : arc, x);
}
