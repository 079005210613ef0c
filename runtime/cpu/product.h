// Products that no addition should be fused with.
//
// requires: types
#pragma once

/// a * b. The host compiler may fuse an addition with it: a processor accumulates in Double, where
/// the rounding of an addition shows in no result of fewer digits.
template <typename T>
NVF_FUNCTION T rounded_product(T a, T b) {
  return a * b;
}
