// Maximum and minimum. A NaN operand is the result.
//
// provides: maximum minimum
// requires: types
#pragma once

// `|` evaluates both sides: one select, no branch.
template <typename A, typename B>
NVF_FUNCTION auto maximum(A a, B b) -> decltype(a + b) {
  return ((a > b) | (a != a)) ? a : b;
}
template <typename A, typename B>
NVF_FUNCTION auto minimum(A a, B b) -> decltype(a + b) {
  return ((a < b) | (a != a)) ? a : b;
}
