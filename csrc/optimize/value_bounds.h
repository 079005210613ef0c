// Bounds of numbers, as far as they follow from how the numbers are computed.
#pragma once

#include <unordered_map>

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Looks at one fusion, which must not change what values are meanwhile. Every value is looked at
/// once.
class ValueBounds {
 public:
  /// Every element is at least this, or NaN. -infinity: nothing is known.
  [[nodiscard]] double least(const Val* val);

  /// Whether every element of a Float is zero, NaN, or so large that its reciprocal is finite.
  [[nodiscard]] bool has_reciprocal(const Val* val);

 private:
  struct Bounds {
    double least = 0;
    bool has_reciprocal = false;
  };

  const Bounds& bounds_of(const Val* val);
  [[nodiscard]] Bounds find(const Val* val);
  [[nodiscard]] double least_of(const Val* val);
  [[nodiscard]] double least_of_cast(const UnaryOp& op);
  [[nodiscard]] bool reciprocal_is_finite(const Val* val);

  std::unordered_map<const Val*, Bounds> known_; // only looked up
};

} // namespace nvfuser::optimize
