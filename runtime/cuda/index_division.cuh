// Division of indices that are not negative, which takes no steps for signs.
//
// provides: index_quotient index_remainder
// requires: types
#pragma once

template <bool is_wide>
struct UnsignedIndex {
  using Type = uint32_t;
};
template <>
struct UnsignedIndex<true> {
  using Type = uint64_t;
};

/// a >= 0, b > 0.
template <typename A, typename B>
NVF_FUNCTION auto index_quotient(A dividend, B divisor) -> decltype(dividend + divisor) {
  using T = decltype(dividend + divisor);
  using Unsigned = typename UnsignedIndex<(sizeof(T) > sizeof(uint32_t))>::Type;
  return static_cast<T>(static_cast<Unsigned>(dividend) / static_cast<Unsigned>(divisor));
}

/// The same of the remainder.
template <typename A, typename B>
NVF_FUNCTION auto index_remainder(A dividend, B divisor) -> decltype(dividend + divisor) {
  using T = decltype(dividend + divisor);
  using Unsigned = typename UnsignedIndex<(sizeof(T) > sizeof(uint32_t))>::Type;
  return static_cast<T>(static_cast<Unsigned>(dividend) % static_cast<Unsigned>(divisor));
}
