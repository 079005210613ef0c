// Rows of an inner problem that are too short for vectors along them: on a processor, the lanes of
// a vector are rows.
#pragma once

#include <optional>

#include "schedule/common/problem_sizes.h"
#include "schedule/params/reduction_params.h"

namespace nvfuser::schedule {

/// Groups of rows that a task of a processor computes together.
struct ShortRows {
  int64_t lanes = 1;  // rows of a group
  int64_t groups = 1; // of a task, one after the other
};

/// No value: vectors along the rows are better, or rows are too few to fill the lanes.
[[nodiscard]] std::optional<ShortRows> find_short_rows(const ProblemSizes& sizes);

void choose_short_rows(const ShortRows& rows, const ProblemSizes& sizes, ReductionParams& params);

} // namespace nvfuser::schedule
