// Sums, and sums of squared differences from what such a sum makes, in one pass over the elements.
//
//   T2 = sum(T1)   T3 = broadcast(f(T2))   T4 = T1 - T3   T5 = sum(T4 * T4)
//
// reads T1 twice: T4 needs all of T2. But whatever T3 is, T5 = D + n * (mean - T3)^2, where D is
// the sum of squared differences from the mean; and mean, D and n come of one pass (Welford).
#pragma once

#include <vector>

#include "ir/reduce.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule {

struct Moments {
  const ReductionOp* sum = nullptr;                // T2
  const ReductionOp* squares = nullptr;            // T5
  TensorView* center = nullptr;                    // T3
  std::vector<const TensorView*> differences = {}; // T4 and its square
};

/// The readers of T4: its square alone, or others as well.
enum class Differences : uint8_t { OfMomentsAlone, OfOthersToo };

/// Cost: linear in reductions, times the expressions between two of them.
[[nodiscard]] std::vector<Moments> find_moments(
    const FusionSummary& summary, Differences differences = Differences::OfMomentsAlone);

/// Compute them in one pass. Nothing is scheduled yet.
void combine_moments(Fusion& fusion, const std::vector<Moments>& moments);

} // namespace nvfuser::schedule
