// Arithmetic that another target does faster and less exactly.
//
// requires: types
#pragma once

NVF_FUNCTION float approximate_divide(float a, float b) {
  return a / b;
}
