// Activation functions.
//
// provides: relu sigmoid silu gelu
// requires: types libm approximate
#pragma once

/// A NaN stays, and so does -0.0.
template <typename T>
NVF_FUNCTION T relu(T x) {
  return x < T(0) ? T(0) : x;
}
NVF_FUNCTION float sigmoid(float x) {
  return approximate_divide(1.0f, 1.0f + expf(-x));
}
NVF_FUNCTION double sigmoid(double x) {
  return 1.0 / (1.0 + exp(-x));
}
NVF_FUNCTION float silu(float x) {
  return approximate_divide(x, 1.0f + expf(-x));
}
NVF_FUNCTION double silu(double x) {
  return x / (1.0 + exp(-x));
}
/// x times the normal distribution's integral up to x.
NVF_FUNCTION float gelu(float x) {
  return 0.5f * x * (1.0f + erff(0.707106781186547524f * x));
}
NVF_FUNCTION double gelu(double x) {
  return 0.5 * x * (1.0 + erf(0.707106781186547524 * x));
}
