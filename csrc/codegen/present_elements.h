// Elements in registers that can be read whatever holds: their index lies within their array for
// all values of the loops around it.
//
//   T8 = i0 < 64 ? T3[i1] : T4[i1]     both arrays have 8 elements, and i1 runs from 0 to 7
//
// A compiler has to ask this again, and jumps where it cannot tell.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "lower/kernel.h"

namespace nvfuser {

class PresentElements {
 public:
  /// Requires: final statements. Cost: O(statements).
  explicit PresentElements(const Scope& body);

  /// Whether `value` can be read without a condition: a scalar, a register alone, or an element
  /// that lies in its array. An index is followed through sums, products and remainders of
  /// constants and of indices of loops with constant ends. Cost: the size of the index.
  [[nodiscard]] bool contains(const Val* value) const;

 private:
  struct Range {
    int64_t least = 0;
    int64_t most = 0;
  };
  /// No value: unknown.
  [[nodiscard]] std::optional<Range> range_of(const Val* index) const;

  std::unordered_map<const Val*, Range> loops_;             // by index
  std::unordered_map<const TensorView*, int64_t> elements_; // of arrays in registers
};

} // namespace nvfuser
