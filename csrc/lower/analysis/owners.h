// Which loops only the first thread, or the first block, has to run.
//
// A result that all threads compute alike has one thread that stores it. Values that are computed
// for that store alone are needed in no other thread:
//
//   FOR i: T4 = T4 + T1[i]                 needed where threadIdx.x == 0
//   IF threadIdx.x == 0: T2[0] = T4
//
// Nor is a tensor in shared memory needed in any block but the first, if only that one reads it.
#pragma once

#include <bitset>
#include <unordered_map>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

/// Hardware indices, in the order of kHardwareTypes.
using HardwareIndices = std::bitset<6>;

/// Indices that terms of `condition` test for 0.
[[nodiscard]] HardwareIndices first_indices_tested(Val* condition);

class Owners {
 public:
  /// Requires: `kernel.tests`.
  /// Cost:     O(statements * loops, one behind the other, that carry results on).
  explicit Owners(Kernel& kernel);

  /// Indices that are 0 in every thread that needs what the loop does. None of blocks (of threads)
  /// if it contains what all blocks (all threads of a block) take part in.
  [[nodiscard]] HardwareIndices of(const ForLoop& loop) const;
  /// The test that these indices are 0; nullptr: no index.
  [[nodiscard]] Val* test(HardwareIndices indices) const;
  /// `owner`, a conjunction, without the tests of `indices`; nullptr: no other.
  [[nodiscard]] Val* without(Val* owner, HardwareIndices indices) const;

 private:
  [[nodiscard]] HardwareIndices needed_for(const Expr& statement) const;
  /// Tensors in registers and shared memory that a statement, or a test of it, needs.
  [[nodiscard]] std::vector<const TensorView*> tensors_read_by(const Expr& statement) const;

  Kernel& kernel_;
  std::unordered_map<const TensorView*, HardwareIndices> readers_; // of what a block has
};

} // namespace nvfuser
