// Faster arithmetic for functions whose result is no better than an approximation anyway.
//
// requires: types
#pragma once

/// a / b within 2 units in the last place; 0 where |b| is above 2^126.
NVF_FUNCTION float approximate_divide(float a, float b) {
  return __fdividef(a, b);
}
NVF_FUNCTION double approximate_divide(double a, double b) {
  return a / b;
}
