// The power of floats that becomes vector code in a loop: 2^(y log2 x) in double, and choices for
// what C says of signs, zeros, infinities and NaN. The error is below 1 unit in the last place.
//
// provides: powf
// requires: types
#pragma once

/// log2 of a positive finite double, with an error of 2^-38 of it.
NVF_FUNCTION double binary_logarithm(double x) {
  // x = m 2^e, sqrt(1/2) <= m < sqrt(2), and m = (1 + s) / (1 - s)
  constexpr int64_t kRootOfHalf = 0x3fe6a09e667f3bcd;
  constexpr int64_t kBias = int64_t(1) << 62; // which keeps the sign out of the shift
  const int64_t bits = bit_cast<int64_t>(x);
  const uint64_t above = static_cast<uint64_t>(bits - kRootOfHalf + kBias);
  const int32_t e = static_cast<int32_t>(above >> 52) - static_cast<int32_t>(kBias >> 52);
  const double m = bit_cast<double>(bits - (static_cast<int64_t>(e) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  constexpr double kTwoOverLn2 = 2.8853900817779268;
  double p = kTwoOverLn2 / 13;
  p = p * z + kTwoOverLn2 / 11;
  p = p * z + kTwoOverLn2 / 9;
  p = p * z + kTwoOverLn2 / 7;
  p = p * z + kTwoOverLn2 / 5;
  p = p * z + kTwoOverLn2 / 3;
  p = p * z + kTwoOverLn2;
  return s * p + static_cast<double>(e);
}

/// 2^x, rounded to float: infinite or 0 where no float is as large or small.
NVF_FUNCTION float rounded_power_of_two(double x) {
  const double low = x > 200.0 ? 200.0 : x;
  const double clamped = low < -200.0 ? -200.0 : low;
  constexpr double kRounding = 6755399441055744.0; // 1.5 * 2^52: an integer in the low bits
  constexpr int64_t kRoundingBits = 0x4338000000000000;
  const double shifted = clamped + kRounding;
  const double f = (clamped - (shifted - kRounding)) * 0.69314718055994531;
  double p = 1.0 / 40320;
  p = p * f + 1.0 / 5040;
  p = p * f + 1.0 / 720;
  p = p * f + 1.0 / 120;
  p = p * f + 1.0 / 24;
  p = p * f + 1.0 / 6;
  p = p * f + 0.5;
  p = p * f + 1.0;
  p = p * f + 1.0;
  const int64_t scale = (bit_cast<int64_t>(shifted) - kRoundingBits + 1023) << 52;
  return static_cast<float>(p * bit_cast<double>(scale));
}

NVF_FUNCTION float powf(float x, float y) {
  const float magnitude = bit_cast<float>(bit_cast<uint32_t>(x) & 0x7fffffffu);
  const bool is_infinite = magnitude == infinity<float>();
  const double finite = binary_logarithm(static_cast<double>(magnitude));
  const double positive = is_infinite ? infinity<double>() : finite;
  const double defined = magnitude == 0.0f ? -infinity<double>() : positive;
  const double logarithm = x == x ? defined : quiet_nan<double>();
  const float power = rounded_power_of_two(logarithm * static_cast<double>(y));

  const float half = 0.5f * y;
  const bool is_whole = __builtin_truncf(y) == y;
  const bool is_odd = is_whole && __builtin_truncf(half) != half;
  const bool has_power = is_whole || is_infinite || magnitude == 0.0f; // of a negative number
  const float of_even = has_power ? power : quiet_nan<float>();
  const float of_negative = is_odd ? -power : of_even;
  const bool is_negative = bit_cast<int32_t>(x) < 0 && x == x;
  const float result = is_negative ? of_negative : power;
  const bool is_endless = y == infinity<float>() || y == -infinity<float>();
  const bool is_one = x == 1.0f || y == 0.0f || (magnitude == 1.0f && is_endless);
  return is_one ? 1.0f : result;
}
