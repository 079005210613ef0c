// Exchange of values within a warp.
//
// requires: types thread_index
#pragma once

constexpr unsigned kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

/// `exchange` of each 32-bit word of a value.
template <typename T, typename Exchange>
NVF_FUNCTION T exchange_words(T value, const Exchange& exchange) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  unsigned words[kWords] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    words[i] = exchange(words[i]);
  }
  memcpy(&value, words, sizeof(T));
  return value;
}

/// The value of lane (own lane ^ mask). All lanes of the warp call.
template <typename T>
NVF_FUNCTION T shuffle_xor(T value, unsigned mask) {
  return exchange_words(
      value, [=](unsigned word) { return __shfl_xor_sync(kAllLanes, word, mask); });
}

/// The value of a lane, modulo the warp size. All lanes of the warp call.
template <typename T>
NVF_FUNCTION T shuffle_from(T value, unsigned lane) {
  return exchange_words(value, [=](unsigned word) { return __shfl_sync(kAllLanes, word, lane); });
}

/// Combine over aligned groups of `lanes` lanes, of each those that are `stride` apart (powers of
/// two), and give all of these the same result: operands are ordered by lane, so that both partners
/// of an exchange round alike.
template <typename T, typename Op>
NVF_FUNCTION T warp_combine(T value, Op op, unsigned lanes = kWarpSize, unsigned stride = 1) {
  const unsigned lane = thread_position<true, true, true>() % kWarpSize;
  for (unsigned mask = stride; mask < lanes; mask *= 2) {
    const T other = shuffle_xor(value, mask);
    const bool is_upper = (lane & mask) != 0;
    value = op(is_upper ? other : value, is_upper ? value : other);
  }
  return value;
}
