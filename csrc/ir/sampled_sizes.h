// Sizes as numbers, for checks: what a run would give is replaced by numbers of our own.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/types.h"
#include "ir/fwd.h"

namespace nvfuser {

/// Constants are themselves; each scalar without definition, and each that is read from a tensor,
/// has a number of its own, not large; all others are computed from these. Two sizes that are equal
/// for all runs have equal samples.
class SampledSizes {
 public:
  /// Empty: the size has no value (a division by zero). Cost: O(1) for each scalar, once.
  [[nodiscard]] std::optional<int64_t> of(const Val* size);

 private:
  [[nodiscard]] const ScalarValue* find(const Val* val) const;
  [[nodiscard]] ScalarValue compute(const Val* val) const;
  [[nodiscard]] ScalarValue sample(const Val* val);

  std::unordered_map<const Val*, ScalarValue> values_;
  int64_t num_samples_ = 0;
};

} // namespace nvfuser
