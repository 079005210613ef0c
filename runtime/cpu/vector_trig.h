// Sine, cosine and tangent of float that become vector code in a loop, for arguments of any size:
// no table in memory, no branch. Errors are below 2 units in the last place.
//
// provides: sinf cosf
// requires: types
#pragma once

/// 2 / pi in words of 32 bits, behind one of zeros.
constexpr uint32_t kTwoOverPi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                   0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

/// Word `first + offset`, where `first` is 0 to 4 and `offset` a constant: choices between
/// constants are vector code, loads from a table are not on all processors.
NVF_FUNCTION uint32_t word_of_two_over_pi(int32_t first, int32_t offset) {
  const uint32_t low = first == 0 ? kTwoOverPi[offset] : kTwoOverPi[offset + 1];
  const uint32_t high = first == 2 ? kTwoOverPi[offset + 2] : kTwoOverPi[offset + 3];
  const uint32_t one_of_four = first < 2 ? low : high;
  return first < 4 ? one_of_four : kTwoOverPi[offset + 4];
}

/// |x| = (quarters + 4 n) pi / 2 + rest, |rest| <= pi / 4
struct QuarterTurns {
  int32_t quarters;
  float rest;
};
NVF_FUNCTION QuarterTurns quarter_turns(float x) {
  // |x| = m 2^(exponent - 150). Its turns are the fraction of m 2^(exponent - 150) / (2 pi), so
  // that bits of 2 / pi which make whole turns are shifted out; 96 bits behind them are enough,
  // since no float is closer than 2^-30 to a multiple of pi / 2.
  const uint32_t bits = bit_cast<uint32_t>(x) & 0x7fffffffu;
  const int32_t exponent = static_cast<int32_t>(bits >> 23);
  const uint32_t m = (bits & 0x7fffffu) | 0x800000u;
  const int32_t shift = exponent < 120 ? 0 : exponent - 120;
  const int32_t first = shift >> 5;
  const int32_t left = shift & 31;
  const int32_t right = 31 - left;
  const uint32_t a = word_of_two_over_pi(first, 0);
  const uint32_t b = word_of_two_over_pi(first, 1);
  const uint32_t c = word_of_two_over_pi(first, 2);
  const uint32_t d = word_of_two_over_pi(first, 3);
  const uint32_t high = (a << left) | (b >> 1 >> right);
  const uint32_t middle = (b << left) | (c >> 1 >> right);
  const uint32_t low = (c << left) | (d >> 1 >> right);
  const uint64_t turns = (static_cast<uint64_t>(m * high) << 32) +
                         static_cast<uint64_t>(m) * middle +
                         ((static_cast<uint64_t>(m) * low) >> 32);
  // To the nearest quarter, and what is left in units of 2^-62 quarters; its halves are doubles.
  constexpr uint64_t kEighth = uint64_t(1) << 61;
  const uint64_t rounded = turns + kEighth;
  const uint64_t rest = (rounded & (2 * kEighth - 1)) - kEighth;
  constexpr double kUnit = 3.406121580086554e-19; // pi / 2 * 2^-62
  const double upper = static_cast<int32_t>(static_cast<uint32_t>(rest >> 32));
  const double lower = static_cast<int32_t>(static_cast<uint32_t>(rest) >> 1);
  const auto angle = static_cast<float>(upper * (4294967296.0 * kUnit) + lower * (2 * kUnit));
  const bool is_small = exponent < 126; // below 1/2: the units are too coarse
  const float finite = is_small ? bit_cast<float>(bits) : angle;
  return {
      is_small ? 0 : static_cast<int32_t>(rounded >> 62),
      exponent == 255 ? quiet_nan<float>() : finite};
}

/// For |r| <= pi / 4.
NVF_FUNCTION float small_sine(float r) {
  const float s = r * r;
  float p = -1.9515295891e-4f;
  p = p * s + 8.3321608736e-3f;
  p = p * s - 1.6666654611e-1f;
  return r + r * s * p;
}
NVF_FUNCTION float small_cosine(float r) {
  const float s = r * r;
  float p = 2.4433157118e-5f;
  p = p * s - 1.3887316255e-3f;
  p = p * s + 4.1666645683e-2f;
  return p * s * s - 0.5f * s + 1.0f;
}

/// sin(quarters pi / 2 + r)
NVF_FUNCTION float sine_of(int32_t quarters, float r) {
  const float sine = small_sine(r);
  const float cosine = small_cosine(r);
  const float magnitude = (quarters & 1) != 0 ? cosine : sine;
  const uint32_t sign = static_cast<uint32_t>(quarters & 2) << 30;
  return bit_cast<float>(bit_cast<uint32_t>(magnitude) ^ sign);
}

/// The sign of `sign` in addition to its own.
NVF_FUNCTION float times_sign_of(float x, float sign) {
  return bit_cast<float>(bit_cast<uint32_t>(x) ^ (bit_cast<uint32_t>(sign) & 0x80000000u));
}

NVF_FUNCTION float sinf(float x) {
  const QuarterTurns turns = quarter_turns(x);
  return times_sign_of(sine_of(turns.quarters, turns.rest), x);
}
NVF_FUNCTION float cosf(float x) {
  const QuarterTurns turns = quarter_turns(x);
  return sine_of(turns.quarters + 1, turns.rest);
}
NVF_FUNCTION float tanf(float x) {
  const QuarterTurns turns = quarter_turns(x);
  const uint32_t sine = bit_cast<uint32_t>(small_sine(turns.rest));
  const uint32_t cosine = bit_cast<uint32_t>(small_cosine(turns.rest));
  // Exchanged by bits in odd quarters: a choice between quotients would be a branch.
  const uint32_t odd = static_cast<uint32_t>(-(turns.quarters & 1));
  const uint32_t changed = (sine ^ cosine) & odd;
  const float above = bit_cast<float>((sine ^ changed) ^ (odd & 0x80000000u));
  const float below = bit_cast<float>(cosine ^ changed);
  return times_sign_of(above / below, x);
}
