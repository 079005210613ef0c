// Questions about one number.
//
// provides: is_finite is_inf is_nan is_neginf is_posinf is_real sign_bit
// requires: types cast
#pragma once

template <typename T>
NVF_FUNCTION bool is_nan(T x) {
  if constexpr (ComplexTraits<T>::value) {
    return is_nan(x.real) || is_nan(x.imag);
  } else {
    return x != x;
  }
}
template <typename T>
NVF_FUNCTION bool is_posinf(T x) {
  if constexpr (IsFloat<T>::value) {
    return x == infinity<T>();
  } else {
    return false;
  }
}
template <typename T>
NVF_FUNCTION bool is_neginf(T x) {
  if constexpr (IsFloat<T>::value) {
    return x == -infinity<T>();
  } else {
    return false;
  }
}
template <typename T>
NVF_FUNCTION bool is_inf(T x) {
  if constexpr (ComplexTraits<T>::value) {
    return is_inf(x.real) || is_inf(x.imag);
  } else {
    return is_posinf(x) || is_neginf(x);
  }
}
template <typename T>
NVF_FUNCTION bool is_finite(T x) {
  return !is_nan(x) && !is_inf(x);
}
template <typename T>
NVF_FUNCTION bool is_real(T x) {
  if constexpr (ComplexTraits<T>::value) {
    return x.imag == 0;
  } else {
    return true;
  }
}

/// Negative; for floating point the sign bit, which -0.0 has as well.
template <typename T>
NVF_FUNCTION bool sign_bit(T x) {
  if constexpr (IsSame<T, float>::value) {
    return bit_cast<int32_t>(x) < 0;
  } else if constexpr (IsSame<T, double>::value) {
    return bit_cast<int64_t>(x) < 0;
  } else {
    return x < T(0);
  }
}
