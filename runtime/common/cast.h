// Conversion between element types, as PyTorch has it.
//
// provides: cast
// requires: types
#pragma once

/// A storage type of few bits says here how it becomes a float and is made from one; all its
/// arithmetic happens in float. Specializations: value = true, to_float(T), from_float(float).
template <typename T>
struct LowPrecision {
  static constexpr bool value = false;
};

/// Specialized by complex types: value = true, Real.
template <typename T>
struct ComplexTraits {
  static constexpr bool value = false;
};

template <typename A, typename B>
struct IsSame {
  static constexpr bool value = false;
};
template <typename A>
struct IsSame<A, A> {
  static constexpr bool value = true;
};
template <typename T>
struct IsFloat {
  static constexpr bool value = IsSame<T, float>::value || IsSame<T, double>::value;
};

/// Narrow integers take the low bits of a 64-bit one, so that negative numbers wrap.
template <typename To, typename From>
NVF_FUNCTION To cast(From value) {
  if constexpr (IsSame<To, From>::value) {
    return value;
  } else if constexpr (LowPrecision<From>::value) {
    return cast<To>(LowPrecision<From>::to_float(value));
  } else if constexpr (LowPrecision<To>::value) {
    return LowPrecision<To>::from_float(cast<float>(value));
  } else if constexpr (ComplexTraits<To>::value) {
    using Real = typename ComplexTraits<To>::Real;
    if constexpr (ComplexTraits<From>::value) {
      return To{cast<Real>(value.real), cast<Real>(value.imag)};
    } else {
      return To{cast<Real>(value), Real(0)};
    }
  } else if constexpr (ComplexTraits<From>::value) {
    if constexpr (IsSame<To, bool>::value) {
      return value.real != 0 || value.imag != 0;
    } else {
      return cast<To>(value.real);
    }
  } else if constexpr (IsSame<To, bool>::value) {
    return value != From(0);
  } else if constexpr (IsFloat<From>::value && !IsFloat<To>::value) {
    if constexpr (sizeof(To) < 4) {
      return static_cast<To>(truncate_to<int64_t>(value));
    } else {
      return truncate_to<To>(value);
    }
  } else {
    return static_cast<To>(value);
  }
}
