// Elementary functions of float that become vector code in a loop: no table, no branch, every
// select between values that are all computed. Polynomials are minimax fits; errors are below
// 2 units in the last place.
//
// provides: expf logf tanhf erff
// requires: types
#pragma once

NVF_FUNCTION float expf(float x) {
  // Where the result is infinite or 0 anyway the argument stands still; a NaN passes.
  const float low = x > 89.0f ? 89.0f : x;
  const float clamped = low < -105.0f ? -105.0f : low;
  // x = n ln 2 + r, |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to an integer in the low bits.
  const float shifted = clamped * 1.44269504089f + 12582912.0f;
  const int32_t n = bit_cast<int32_t>(shifted) - 0x4b400000;
  const float whole = shifted - 12582912.0f;
  const float r = (clamped - whole * 0.693359375f) - whole * -2.12194440e-4f;
  float p = 0.0013950594f;
  p = p * r + 0.0083689543f;
  p = p * r + 0.0416662042f;
  p = p * r + 0.166665183f;
  p = p * r + 0.5000000096f;
  p = p * r * r + r + 1.0f;
  // 2^n in two factors: n runs from -152 to 128.
  const int32_t half = n >> 1;
  const float scale = bit_cast<float>((half + 127) << 23);
  const float rest = bit_cast<float>((n - half + 127) << 23);
  return p * scale * rest;
}

NVF_FUNCTION float logf(float x) {
  const bool is_subnormal = x < 1.17549435e-38f;
  const float normal = is_subnormal ? x * 8388608.0f : x;
  // x = m * 2^e, sqrt(1/2) <= m < sqrt(2)
  const int32_t bits = bit_cast<int32_t>(normal);
  const int32_t e = (bits - 0x3f3504f3) >> 23;
  const float exponent = static_cast<float>(is_subnormal ? e - 23 : e);
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
  const float tail = p * f * square - 0.5f * square + exponent * -2.12194440e-4f;
  const float finite = f + tail + exponent * 0.693359375f;
  const float positive = x == infinity<float>() ? x : finite;
  const float defined = x == 0.0f ? -infinity<float>() : positive;
  return x >= 0.0f ? defined : quiet_nan<float>();
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
