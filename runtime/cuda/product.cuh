// Products that no addition is fused with.
//
// requires: types
#pragma once

/// a * b, rounded.
NVF_FUNCTION float rounded_product(float a, float b) {
  return __fmul_rn(a, b);
}
NVF_FUNCTION double rounded_product(double a, double b) {
  return __dmul_rn(a, b);
}
