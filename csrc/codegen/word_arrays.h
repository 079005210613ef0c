// Register arrays of 16-bit floats that vectors fill: each register holds two neighbours, so an
// element can be read as half of a word, and two of them compared at once.
//
//   T9 = 8 elements from memory     float(T9[5]) is the upper half of word 2
//
// A compiler that sees an array of single elements takes them out of their words one by one, with
// an instruction more for every other element.
#pragma once

#include <unordered_set>

#include "lower/kernel.h"

namespace nvfuser {

class WordArrays {
 public:
  /// Requires: final statements. Cost: O(statements).
  explicit WordArrays(const Scope& body);

  /// Whether `view` is an array of whole words in registers that nothing but vectors writes, or
  /// elements where there is no whole vector.
  [[nodiscard]] bool contains(const TensorView* view) const {
    return arrays_.contains(view) && filled_.contains(view) && !others_.contains(view);
  }

 private:
  void visit(const Scope& scope, int64_t lanes, bool is_alternative);

  std::unordered_set<const TensorView*> arrays_; // in registers, as they are allocated
  std::unordered_set<const TensorView*> filled_; // by vectors of words
  std::unordered_set<const TensorView*> others_; // that other statements write
};

} // namespace nvfuser
