// Products that no addition should be fused with.
//
// requires: types
#pragma once

/// a * b. The host compiler may fuse an addition with it: what is accumulated on a processor has
/// more digits than the data, so that its rounding does not show.
template <typename T>
NVF_FUNCTION T rounded_product(T a, T b) {
  return a * b;
}
