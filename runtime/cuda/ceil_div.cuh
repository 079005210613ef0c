// Division that rounds up, of what is not negative.
//
// provides: ceilDiv
// requires: types
#pragma once

/// a >= 0, b > 0. No step leaves the range of the operands. Without a branch: a kernel with
/// hundreds of loops, whose bounds these are, compiles in half the time.
template <typename A, typename B>
NVF_FUNCTION auto ceilDiv(A dividend, B divisor) -> decltype(dividend + divisor) {
  using T = decltype(dividend + divisor);
  const T a = dividend;
  const T b = divisor;
  return a / b + T(a % b != 0);
}
