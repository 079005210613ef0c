#include "schedule/common/problem_sizes.h"

#include <algorithm>

namespace nvfuser::schedule {

ProblemSizes sizes_of(const ReductionProblem& problem, const RunFacts& facts) {
  ProblemSizes sizes;
  for (const IterDomain* axis : problem.kept) {
    sizes.kept *= facts.size(axis->extent());
  }
  for (const IterDomain* axis : problem.reduced) {
    sizes.reduced *= facts.size(axis->extent());
  }
  sizes.is_of_one_length = std::ranges::all_of(
      problem.reduced, [](const IterDomain* axis) { return axis->extent()->is_const_int(); });
  sizes.vectors = choose_vector_widths(problem.accesses, problem.lane_axes(), facts);
  int64_t narrowest = kLaneBytes;
  for (const TensorAccess& access : problem.accesses) {
    sizes.streams += !access.is_output && !access.is_lookup() && access.has_all_axes ? 1 : 0;
    const int64_t bytes = size_bytes(access.tensor->dtype());
    sizes.widest_bytes = std::max(sizes.widest_bytes, bytes);
    narrowest = std::min(narrowest, bytes);
  }
  sizes.narrowest_bytes = std::min(narrowest, sizes.widest_bytes);
  return sizes;
}

} // namespace nvfuser::schedule
