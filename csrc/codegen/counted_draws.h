// Uniform random floats that nothing reads but comparisons with constants, as of a dropout. They
// are multiples of 2^-24, so a CUDA kernel counts these steps and compares integers, with the same
// outcome.
//
//   T1 = uniform()   T2 = T1 < 0.9         T1 = random_steps(..);   T2 = T1 < 15099494u;
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "lower/kernel.h"

namespace nvfuser {

class CountedDraws {
 public:
  /// Cost: O(edges).
  explicit CountedDraws(const Kernel& kernel);

  [[nodiscard]] bool contains(const TensorView* tensor) const {
    return counted_.contains(tensor);
  }

 private:
  std::unordered_set<const TensorView*> counted_; // only looked up
};

/// A comparison of a number of steps that says the same as `value op bound` of the float.
struct StepComparison {
  const char* symbol = "<"; // or ">="
  int64_t steps = 0;        // in [0, 2^24]
};
/// No value: not a comparison of sizes, or the bound is not a number.
[[nodiscard]] std::optional<StepComparison> compare_steps(BinaryOpType op, float bound);

} // namespace nvfuser
