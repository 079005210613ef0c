// Floats that nothing sees before they are rounded to 16 bits and fewer: an error of a few units in
// their last place is far below that of the rounding.
//
//   T1 = exp(T0)   T2 = sum(T1)   T3 = T1 / T2   T4 = bfloat16(T3)   output T4
//
// T1, T2 and T3 are such. They are not if one of them is an output, is compared, or decides an
// integer: there is no bound on what an error of an operand does to a comparison.
//
// Nor does an error of an exponential matter to a sum of exponentials about the maximum of what is
// summed: T3 = sum(exp(T0 - max(T0))), where nothing else reads the exponentials. None exceeds 1,
// one is 1, and those with large errors are small: an error of |x| units in the last place at
// exp(x) is at most 0.4 units of 1.
#pragma once

#include <unordered_set>

#include "lower/kernel.h"

namespace nvfuser {

class RoundedValues {
 public:
  /// None with NVFUSER_DISABLE=approximate_math. Cost: O(edges).
  explicit RoundedValues(const Kernel& kernel);

  [[nodiscard]] bool contains(const TensorView* tensor) const {
    return rounded_.contains(tensor);
  }

 private:
  std::unordered_set<const TensorView*> rounded_; // only looked up
};

} // namespace nvfuser
