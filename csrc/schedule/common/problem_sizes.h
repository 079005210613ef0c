// A problem of reductions in numbers: sizes of a run, and what of it has to be loaded.
#pragma once

#include <algorithm>
#include <bit>

#include "base/task_sizes.h"
#include "schedule/common/vector_widths.h"
#include "schedule/run_facts.h"
#include "schedule/summary/reduction_problem.h"

namespace nvfuser::schedule {

struct ProblemSizes {
  int64_t kept = 1;    // elements
  int64_t reduced = 1; // of one result
  VectorWidths vectors = {};
  int64_t streams = 0;         // inputs with an element for each one of the problem
  int64_t widest_bytes = 4;    // of an element, as it is computed
  int64_t narrowest_bytes = 4; // of an element, as it is stored
  /// The definition says how much is reduced: no other size shares a kernel with this one.
  bool is_of_one_length = false;
  bool is_shifted = false; // rows begin where vectors do (shifted_rows.h)
};

[[nodiscard]] ProblemSizes sizes_of(const ReductionProblem& problem, const RunFacts& facts);

[[nodiscard]] constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}
/// The largest power of two that is at most `number`; 1 for numbers below 1.
[[nodiscard]] constexpr int64_t power_of_two_below(int64_t number) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(number, 1))));
}
[[nodiscard]] constexpr int64_t power_of_two_above(int64_t number) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(number, 1))));
}

/// Elements of one step of a processor's innermost loop: a whole vector of the narrowest that are
/// stored, but at most two of the widest that are computed. Where the narrowest fill no vector,
/// compilers take shorter vectors for the wide ones as well.
[[nodiscard]] constexpr int64_t lanes_of_step(int64_t widest_bytes, int64_t narrowest_bytes) {
  return std::min(kLaneBytes / narrowest_bytes, 2 * kLaneBytes / widest_bytes);
}

// Buckets: 1, 2, 3, 4, 6, 8, 12, 16, ... A kernel is made for such a number, so that sizes that
// differ little share a kernel.

/// The smallest bucket that is at least `number`.
[[nodiscard]] constexpr int64_t bucket_above(int64_t number) {
  const int64_t power = power_of_two_above(number);
  const int64_t between = power / 4 * 3;
  return power >= 4 && number <= between ? between : power;
}
/// The largest bucket that is at most `number`.
[[nodiscard]] constexpr int64_t bucket_below(int64_t number) {
  const int64_t power = power_of_two_below(number);
  const int64_t between = power / 2 * 3;
  return power >= 2 && number >= between ? between : power;
}

} // namespace nvfuser::schedule
