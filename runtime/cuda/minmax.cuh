// Maximum and minimum. A NaN operand is the result.
//
// provides: maximum minimum
// requires: types
#pragma once

NVF_FUNCTION float maximum(float a, float b) {
  float out;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
  return out;
}
NVF_FUNCTION float minimum(float a, float b) {
  float out;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
  return out;
}
NVF_FUNCTION double maximum(double a, double b) {
  return a > b || a != a ? a : b;
}
NVF_FUNCTION double minimum(double a, double b) {
  return a < b || a != a ? a : b;
}
template <typename A, typename B>
NVF_FUNCTION auto maximum(A a, B b) -> decltype(a + b) {
  return a > b ? a : b;
}
template <typename A, typename B>
NVF_FUNCTION auto minimum(A a, B b) -> decltype(a + b) {
  return a < b ? a : b;
}
