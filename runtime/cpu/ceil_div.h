// Division that rounds up, of what is not negative.
//
// provides: ceilDiv
// requires: integer
#pragma once

/// a >= 0, b > 0; where b is 0, so is the result. No step leaves the range of the operands.
template <typename A, typename B>
NVF_FUNCTION auto ceilDiv(A a, B b) -> decltype(a + b) {
  return a == 0 ? 0 : divide(a - 1, b) + 1;
}
