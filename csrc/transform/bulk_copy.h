// Which expressions copy boxes between global and shared memory.
//
//   copy        LoadStoreOpType.tma says so
//   run         LoadStoreOpType.CpAsyncBulk says so: neighbours in global memory, for which the
//               hardware needs no description of the tensor
//   update      of an input in place: a sum, minimum or maximum of it and a tensor in shared
//   memory,
//               with an axis bound to ParallelType.tma. Runs are combined with what is in global
//               memory, where no thread reads it
//   broadcast   of an input into shared memory, with axes bound to ParallelType.tma: new dimensions
//               of size one change nothing in memory, so the box is that of the input
#pragma once

#include "ir/tensor_view.h"

namespace nvfuser {

/// Whether `expr`, of a definition, copies boxes.
[[nodiscard]] bool is_bulk_copy(const Expr* expr);
/// Whether it combines what it stores with what is in global memory.
[[nodiscard]] bool is_bulk_update(const Expr* expr);
/// Whether it copies runs, as updates do.
[[nodiscard]] bool copies_runs(const Expr* expr);
/// The tensor that a bulk copy reads.
[[nodiscard]] TensorView* bulk_source(const Expr* expr);

} // namespace nvfuser
