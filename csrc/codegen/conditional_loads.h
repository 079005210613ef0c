// Registers that are loaded under a condition and read whether it held or not.
//
//   __half T2;  if (i < n) { T2 = T0[i]; }  T3[k] = float(T2);
//
// C++ lets T2 have any value where it was not loaded: that of the iteration before, so compilers
// give all iterations one register, and each load waits until the one before has been read. With a
// value at its declaration each iteration has a register of its own, and all loads are under way
// at once.
#pragma once

#include <unordered_set>

#include "lower/kernel.h"

namespace nvfuser {

class ConditionalLoads {
 public:
  /// Cost: linear in the statements, times the depth of conditions.
  explicit ConditionalLoads(const Scope& body);

  /// Whether the storage, which one access fills, has to be declared with a value.
  [[nodiscard]] bool needs_value(const Allocate& allocate) const {
    return found_.contains(allocate.buffer);
  }

 private:
  std::unordered_set<const TensorView*> found_;
};

} // namespace nvfuser
