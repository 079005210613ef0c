// Rows that begin in the middle of vectors: their loops are shifted to where the vectors begin
// (ir/shifted_axes.h), so that all accesses but those at the ends of rows are whole vectors.
//
//   rows of 13 elements, vectors of 8    row 1:   . . . . . 0 1 2 | 3 4 5 6 7 8 9 10 | 11 12 . .
#pragma once

#include <optional>

#include "schedule/common/loop_roles.h"
#include "schedule/common/problem_sizes.h"

namespace nvfuser::schedule {

/// The sizes of a problem whose rows are shifted: of whole vectors, some of which begin before
/// their row. No value: threads have `enough_lanes` neighbours as it is, rows are so short that
/// their ends are much of them, or the rows of some tensor do not lie behind each other from the
/// beginning of a vector on.
[[nodiscard]] std::optional<ProblemSizes> find_shifted_sizes(
    const ReductionProblem& problem,
    const ProblemSizes& sizes,
    const RunFacts& facts,
    int64_t enough_lanes);
/// The same, where its elements are not loaded in words of registers, or more, as it is.
[[nodiscard]] std::optional<ProblemSizes> find_shifted_sizes(
    const ReductionProblem& problem, const ProblemSizes& sizes, const RunFacts& facts);

/// Sizes of shifted rows whose vectors have half as many lanes.
[[nodiscard]] ProblemSizes with_half_vectors(const ProblemSizes& shifted);

/// Let the loop over the elements of a row begin where a vector of so many lanes does. Each of the
/// `blocks` has one row, or rows that begin at the same place of a vector.
void shift_row(LoopRoles& loops, LoopRole role, ParallelType blocks, int64_t lanes);

} // namespace nvfuser::schedule
