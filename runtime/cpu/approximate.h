// Arithmetic that another target does faster and less exactly.
//
// requires: types
#pragma once

NVF_FUNCTION float approximate_divide(float a, float b) {
  return a / b;
}
NVF_FUNCTION double approximate_divide(double a, double b) {
  return a / b;
}
