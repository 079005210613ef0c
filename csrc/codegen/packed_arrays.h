// Register arrays of narrow floats that a thread reads before and after it meets others.
//
//   LOAD(T9[0..31])   T1 = sum(float(T9[..]))   BLOCKREDUCE(T2, T1)   T3 = float(T9[..]) * T2
//
// A compiler that sees both conversions makes one, and keeps floats in between: the registers of
// two elements for each. Values that a schedule keeps as they are stored should stay so.
#pragma once

#include <unordered_map>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

class PackedArrays {
 public:
  /// Requires: final statements. Cost: O(statements).
  explicit PackedArrays(const Scope& body);

  /// The arrays that are read before and after `collective`, as they are allocated.
  [[nodiscard]] std::vector<const Allocate*> read_on_both_sides(const Expr& collective) const;

 private:
  struct Reads {
    const Allocate* array = nullptr;
    int64_t first = -1; // places of statements; -1: none
    int64_t last = -1;
  };

  std::vector<Reads> arrays_;                       // as they are declared
  std::unordered_map<const Expr*, int64_t> places_; // of collectives
};

} // namespace nvfuser
