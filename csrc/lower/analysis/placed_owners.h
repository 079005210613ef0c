// Which threads read what a block has for itself, in a kernel whose conditions stand in its tree.
//
//   THREADS: T4[tx] = T1_s[0]                      needed where tx == 0
//   THREADS: IF tx == 0: T2_s[0] = T4[tx] * 2
//
// Owners answers the same question before conditions are placed.
#pragma once

#include <unordered_map>
#include <vector>

#include "lower/analysis/owners.h"
#include "lower/kernel.h"

namespace nvfuser {

class PlacedOwners {
 public:
  /// Requires: conditions placed.
  /// Cost:     O(statements * loops, one behind the other, that carry results on).
  explicit PlacedOwners(const Kernel& kernel);

  /// Indices that are 0 in every thread that reads an element of `tensor`. None for what other
  /// blocks see; none of threads for what other threads of the block see.
  [[nodiscard]] HardwareIndices of(const TensorView* tensor) const;

 private:
  struct Read {
    const TensorView* tensor;
    HardwareIndices tested;                 // around the statement
    std::vector<const TensorView*> results; // of the statement
    bool is_of_one_thread;
  };

  void collect(const Scope& scope, HardwareIndices tested);
  void collect(const Expr& node, HardwareIndices tested);
  [[nodiscard]] HardwareIndices needed_for(const Read& read) const;
  [[nodiscard]] HardwareIndices private_indices(const TensorView* tensor) const;

  bool has_clusters_;
  std::vector<Read> reads_;
  std::unordered_map<const TensorView*, HardwareIndices> readers_; // no entry: nothing reads it
};

} // namespace nvfuser
