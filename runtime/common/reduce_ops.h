// Combiners of reductions as function objects.
//
// provides: ReduceAdd ReduceMul ReduceMax ReduceMin ReduceFMax ReduceFMin ReduceAnd
// provides: ReduceOr ReduceXor
// requires: types cast minmax libm
#pragma once

/// T, but no argument that T is deduced from.
template <typename T>
struct Exactly {
  using Type = T;
};

/// Derived combiners define `combine`; low-precision floats are combined in float.
template <typename Op>
struct Reduce {
  template <typename T>
  NVF_FUNCTION T operator()(T a, T b) const {
    if constexpr (LowPrecision<T>::value) {
      return cast<T>(Op::combine(cast<float>(a), cast<float>(b)));
    } else {
      return static_cast<T>(Op::combine(a, b));
    }
  }
};

struct ReduceAdd : Reduce<ReduceAdd> {
  template <typename T>
  NVF_FUNCTION static auto combine(T a, T b) {
    return a + b;
  }
};
struct ReduceMul : Reduce<ReduceMul> {
  template <typename T>
  NVF_FUNCTION static auto combine(T a, T b) {
    return a * b;
  }
};
struct ReduceMax : Reduce<ReduceMax> {
  template <typename T>
  NVF_FUNCTION static auto combine(T a, T b) {
    return maximum(a, b);
  }
};
struct ReduceMin : Reduce<ReduceMin> {
  template <typename T>
  NVF_FUNCTION static auto combine(T a, T b) {
    return minimum(a, b);
  }
};
/// NaN loses against every number.
struct ReduceFMax : Reduce<ReduceFMax> {
  template <typename T>
  NVF_FUNCTION static auto combine(T a, T b) {
    return b != b || a > b ? a : b;
  }
};
struct ReduceFMin : Reduce<ReduceFMin> {
  template <typename T>
  NVF_FUNCTION static auto combine(T a, T b) {
    return b != b || a < b ? a : b;
  }
};
struct ReduceAnd : Reduce<ReduceAnd> {
  template <typename T>
  NVF_FUNCTION static auto combine(T a, T b) {
    return a & b;
  }
};
struct ReduceOr : Reduce<ReduceOr> {
  template <typename T>
  NVF_FUNCTION static auto combine(T a, T b) {
    return a | b;
  }
};
struct ReduceXor : Reduce<ReduceXor> {
  template <typename T>
  NVF_FUNCTION static auto combine(T a, T b) {
    return a ^ b;
  }
};
