// Rows that begin in the middle of vectors: their loops are shifted to where the vectors begin
// (ir/shifted_axes.h), so that all accesses but those at the ends of rows are whole vectors.
//
//   rows of 13 elements, vectors of 8    row 1:   . . . . . 0 1 2 | 3 4 5 6 7 8 9 10 | 11 12 . .
#pragma once

#include <optional>

#include "schedule/common/loop_roles.h"
#include "schedule/common/problem_sizes.h"

namespace nvfuser::schedule {

/// The sizes that a problem has with shifted rows: more lanes, and elements of holes at both ends.
/// No value: vectors divide the rows, some tensor has gaps between them, is not aligned or has
/// columns that rows share, or they are short or of one input.
[[nodiscard]] std::optional<ProblemSizes> sizes_of_shifted_rows(
    const ReductionProblem& problem, const RunFacts& facts, const ProblemSizes& sizes);

/// Let the loop over the elements of a row begin where a vector of so many lanes does. Each of the
/// `blocks` has one row, or rows that begin at the same place of a vector.
void shift_row(LoopRoles& loops, LoopRole role, ParallelType blocks, int64_t lanes);

} // namespace nvfuser::schedule
