// Random numbers of rows that no vectors divide.
//
// One cipher makes the numbers of four neighbours. A thread that has single elements of its row
// would compute the cipher for each of them. So all rows of a block are one run of elements here,
// and a thread draws four neighbours of it; what is computed from them alone goes to the threads of
// the rows through shared memory.
//
//   T1 = uniform()   T2 = T1 < 0.9   T3 = where(T2, ..)
//   [I/16, (16 R)/4/8/16, ty 16, tx 8, 4]    T2 in shared memory    [I/16, ty 16, R/8, tx 8]
#pragma once

#include "schedule/params/reduction_params.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule {

/// Elements whose numbers one cipher makes.
inline constexpr int64_t kNumbersOfCipher = 4;

/// Tensors with loops of their own: the random numbers, what is computed from them alone, and last
/// its copy in shared memory.
using DrawnRows = std::vector<TensorView*>;

/// Whether some random numbers have the axes of the problem, and are read inside.
[[nodiscard]] bool draws_rows(const FusionSummary& summary);

/// Put random numbers of rows into shared memory. Before the fusion is edited; loops come later.
[[nodiscard]] std::vector<DrawnRows> put_drawn_rows_in_shared_memory(const FusionSummary& summary);

/// Give `rows` their loops: those of blocks that have `params.lparams.bdimy()` rows.
void schedule_drawn_rows(
    const FusionSummary& summary, const DrawnRows& rows, const ReductionParams& params);

} // namespace nvfuser::schedule
