// A problem of reductions in numbers: sizes of a run, and what of it has to be loaded.
#pragma once

#include "schedule/common/vector_widths.h"
#include "schedule/run_facts.h"
#include "schedule/summary/reduction_problem.h"

namespace nvfuser::schedule {

struct ProblemSizes {
  int64_t kept = 1;    // elements
  int64_t reduced = 1; // of one result
  VectorWidths vectors = {};
  int64_t streams = 0;      // inputs with an element for each one of the problem
  int64_t widest_bytes = 4; // of an element, as it is computed
};

[[nodiscard]] ProblemSizes sizes_of(const ReductionProblem& problem, const RunFacts& facts);

[[nodiscard]] constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

} // namespace nvfuser::schedule
