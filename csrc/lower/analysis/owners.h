// Which loops only the first thread, or the first block, has to run.
//
// A result that all threads compute alike has one thread that stores it. What is computed for that
// store alone is needed in no other thread:
//
//   FOR i: T4 = T4 + T1[i]                 needed where threadIdx.x == 0
//   IF threadIdx.x == 0: T2[0] = T4
#pragma once

#include <bitset>
#include <unordered_map>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

/// Hardware indices, in the order of kHardwareTypes.
using HardwareIndices = std::bitset<6>;

class Owners {
 public:
  /// Requires: `kernel.tests`.
  /// Cost:     O(statements * loops, one behind the other, that carry results on).
  explicit Owners(Kernel& kernel);

  /// Indices that are 0 in every thread that needs what the loop does. None if it contains what all
  /// threads take part in.
  [[nodiscard]] HardwareIndices of(const ForLoop& loop) const;
  /// The test that these indices are 0; nullptr: no index.
  [[nodiscard]] Val* test(HardwareIndices indices) const;
  /// `owner`, a conjunction, without the tests of `indices`; nullptr: no other.
  [[nodiscard]] Val* without(Val* owner, HardwareIndices indices) const;

 private:
  /// Indices that `owner` tests for 0.
  [[nodiscard]] HardwareIndices tested(Val* owner) const;
  [[nodiscard]] HardwareIndices needed_for(const Expr& statement) const;
  /// Registers that a statement, or a test of it, needs.
  [[nodiscard]] std::vector<const TensorView*> registers_read_by(const Expr& statement) const;

  Kernel& kernel_;
  std::unordered_map<const TensorView*, HardwareIndices> readers_; // of registers
};

} // namespace nvfuser
