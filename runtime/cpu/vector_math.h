// Elementary functions of float that become vector code in a loop: no table, no branch, every
// select between values that are all computed. Polynomials are minimax fits; errors are below
// 2 units in the last place.
//
// provides: expf exp2f expm1f logf log2f log10f log1pf tanhf erff
// requires: types
#pragma once

/// 2^n p in two factors, so that results below the smallest normal float are right: n runs from
/// -152 to 130.
NVF_FUNCTION float scaled(float p, int32_t n) {
  const int32_t half = n >> 1;
  return p * bit_cast<float>((half + 127) << 23) * bit_cast<float>((n - half + 127) << 23);
}

// Adding 1.5 * 2^23 rounds to an integer in the low bits.
constexpr float kRoundingFloat = 12582912.0f;
constexpr int32_t kRoundingBits = 0x4b400000;

/// 2^power e^x
NVF_FUNCTION float scaled_exp(float x, int32_t power) {
  // Where the result is infinite or 0 anyway the argument stands still; a NaN passes.
  const float low = x > 90.0f ? 90.0f : x;
  const float clamped = low < -105.0f ? -105.0f : low;
  // x = n ln 2 + r, |r| <= ln 2 / 2
  const float shifted = clamped * 1.44269504089f + kRoundingFloat;
  const int32_t n = bit_cast<int32_t>(shifted) - kRoundingBits;
  const float whole = shifted - kRoundingFloat;
  const float r = (clamped - whole * 0.693359375f) - whole * -2.12194440e-4f;
  float p = 0.0013950594f;
  p = p * r + 0.0083689543f;
  p = p * r + 0.0416662042f;
  p = p * r + 0.166665183f;
  p = p * r + 0.5000000096f;
  p = p * r * r + r + 1.0f;
  return scaled(p, n + power);
}

NVF_FUNCTION float expf(float x) {
  return scaled_exp(x, 0);
}

NVF_FUNCTION float exp2f(float x) {
  const float low = x > 129.0f ? 129.0f : x;
  const float clamped = low < -151.0f ? -151.0f : low;
  const float shifted = clamped + kRoundingFloat;
  const float f = clamped - (shifted - kRoundingFloat);
  float p = 1.53533619e-4f;
  p = p * f + 1.33988744e-3f;
  p = p * f + 9.61843736e-3f;
  p = p * f + 5.55033247e-2f;
  p = p * f + 2.40226479e-1f;
  p = p * f + 6.93147203e-1f;
  p = p * f + 1.0f;
  return scaled(p, bit_cast<int32_t>(shifted) - kRoundingBits);
}

NVF_FUNCTION float expm1f(float x) {
  const float low = x > 89.0f ? 89.0f : x;
  const float clamped = low < -18.0f ? -18.0f : low;
  const float shifted = clamped * 1.44269504089f + kRoundingFloat;
  const int32_t n = bit_cast<int32_t>(shifted) - kRoundingBits;
  const float whole = shifted - kRoundingFloat;
  const float r = (clamped - whole * 0.693359375f) - whole * -2.12194440e-4f;
  float p = 1.98756915e-4f;
  p = p * r + 1.39819995e-3f;
  p = p * r + 8.33345191e-3f;
  p = p * r + 4.16657959e-2f;
  p = p * r + 1.66666655e-1f;
  p = p * r + 5.00000012e-1f;
  p = p * r * r + r; // e^r - 1
  // 2^n p + 2^n - 1 as twice its half: 2^128 is no float.
  const float half = bit_cast<float>((n + 126) << 23);
  const float result = n == 0 ? p : 2.0f * (half * p + (half - 0.5f));
  return x == 0.0f ? x : result; // which has a sign
}

/// log(x) = exponent ln 2 + f + tail, for positive x.
struct SplitLogarithm {
  float exponent;
  float f;
  float tail;
};
NVF_FUNCTION SplitLogarithm split_logarithm(float x) {
  const bool is_subnormal = x < 1.17549435e-38f;
  const float normal = is_subnormal ? x * 8388608.0f : x;
  // x = m * 2^e, sqrt(1/2) <= m < sqrt(2)
  const int32_t bits = bit_cast<int32_t>(normal);
  const int32_t e = (bits - 0x3f3504f3) >> 23;
  const float f = bit_cast<float>(bits - e * (1 << 23)) - 1.0f;
  float p = 0.0691518303f;
  p = p * f - 0.1178971391f;
  p = p * f + 0.1187300977f;
  p = p * f - 0.1238436673f;
  p = p * f + 0.1421865586f;
  p = p * f - 0.1666924968f;
  p = p * f + 0.2000222669f;
  p = p * f - 0.2499998662f;
  p = p * f + 0.3333331044f;
  const float square = f * f;
  return {static_cast<float>(is_subnormal ? e - 23 : e), f, p * f * square - 0.5f * square};
}

/// The logarithm of any x; `finite`: of positive ones.
NVF_FUNCTION float logarithm_of(float x, float finite) {
  const float positive = x == infinity<float>() ? x : finite;
  const float defined = x == 0.0f ? -infinity<float>() : positive;
  return x >= 0.0f ? defined : quiet_nan<float>();
}

NVF_FUNCTION float logf(float x) {
  const SplitLogarithm log = split_logarithm(x);
  const float tail = log.tail + log.exponent * -2.12194440e-4f;
  return logarithm_of(x, log.f + tail + log.exponent * 0.693359375f);
}

// In another base in double: a product of floats would round once more.
NVF_FUNCTION float log2f(float x) {
  const SplitLogarithm log = split_logarithm(x);
  const double mantissa = static_cast<double>(log.f) + static_cast<double>(log.tail);
  const double finite = mantissa * 1.4426950408889634 + static_cast<double>(log.exponent);
  return logarithm_of(x, static_cast<float>(finite));
}
NVF_FUNCTION float log10f(float x) {
  const SplitLogarithm log = split_logarithm(x);
  const double mantissa = static_cast<double>(log.f) + static_cast<double>(log.tail);
  const double exponent = static_cast<double>(log.exponent) * 0.30102999566398120;
  return logarithm_of(x, static_cast<float>(mantissa * 0.43429448190325182 + exponent));
}

NVF_FUNCTION float log1pf(float x) {
  // log(u) + lost / u, where u = 1 + x - lost
  const float u = 1.0f + x;
  const float lost = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  const SplitLogarithm log = split_logarithm(u);
  const float tail = log.tail + (log.exponent * -2.12194440e-4f + lost / u);
  const float result = logarithm_of(u, log.f + tail + log.exponent * 0.693359375f);
  return x == 0.0f ? x : result; // which has a sign
}

NVF_FUNCTION float with_sign_of(float magnitude, float sign) {
  return bit_cast<float>(bit_cast<uint32_t>(magnitude) | (bit_cast<uint32_t>(sign) & 0x80000000u));
}

NVF_FUNCTION float tanhf(float x) {
  const float magnitude = bit_cast<float>(bit_cast<uint32_t>(x) & 0x7fffffffu);
  const float s = x * x;
  float p = -0.005717011f;
  p = p * s + 0.020650554f;
  p = p * s - 0.0537434867f;
  p = p * s + 0.1333149113f;
  p = p * s - 0.3333328392f;
  const float near_zero = magnitude + magnitude * s * p;
  const float far = 1.0f - 2.0f / (expf(2.0f * magnitude) + 1.0f);
  return with_sign_of(magnitude < 0.625f ? near_zero : far, x);
}

NVF_FUNCTION float erff(float x) {
  const float magnitude = bit_cast<float>(bit_cast<uint32_t>(x) & 0x7fffffffu);
  const float s = x * x;
  float p = 7.8891088643e-5f;
  p = p * s - 8.0208380866e-4f;
  p = p * s + 5.1895349810e-3f;
  p = p * s - 2.6854444407e-2f;
  p = p * s + 1.1283600172e-1f;
  p = p * s - 3.7612627136e-1f;
  p = p * s + 0.1283791659f;
  const float near_zero = magnitude + magnitude * p;
  // 1 - exp(-q), exact to float from 4 on
  const float m = magnitude > 4.0f ? 4.0f : magnitude;
  float q = 2.0909844857e-5f;
  q = q * m - 4.3230615497e-4f;
  q = q * m + 4.1605413422e-3f;
  q = q * m - 2.5091532256e-2f;
  q = q * m + 1.0823667079e-1f;
  q = q * m + 6.3338660274e-1f;
  q = q * m + 1.1294951794f;
  q = q * m - 1.7055598518e-4f;
  const float far = 1.0f - expf(-q);
  return with_sign_of(magnitude < 1.0f ? near_zero : far, x);
}
