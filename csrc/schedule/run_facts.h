// RunFacts: what a scheduler knows of a run. Sizes, how the inputs lie in memory, and the device.
//
// Together with a FusionSummary it is all that heuristics read: they are pure functions of the two,
// and ask no graph. A new run is therefore compared with an earlier one by computing params again.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/target.h"
#include "eval/evaluator.h"

namespace nvfuser::schedule {

/// How a tensor that exists lies in memory.
struct InputLayout {
  std::vector<int64_t> sizes;   // of the axes that address memory, outermost first
  std::vector<int64_t> strides; // elements
  int64_t alignment = 1;        // bytes: the largest power of two that divides the address
};

class RunFacts {
 public:
  /// `sizes` knows the extents and scalars of the inputs. `inputs`: one for each input of the
  /// fusion; empty for scalars.
  RunFacts(const Target& target, ExpressionEvaluator sizes, std::vector<InputLayout> inputs)
      : target_(target), sizes_(std::move(sizes)), inputs_(std::move(inputs)) {}

  [[nodiscard]] const Target& target() const {
    return target_;
  }
  /// Throws UserError, naming `extent`, if it does not follow from the inputs.
  [[nodiscard]] int64_t size(const Val* extent) const {
    return sizes_.evaluate_int(extent);
  }
  [[nodiscard]] const InputLayout& input(size_t position) const {
    return inputs_.at(position);
  }

 private:
  Target target_;
  mutable ExpressionEvaluator sizes_; // keeps what it computed
  std::vector<InputLayout> inputs_;
};

} // namespace nvfuser::schedule
