// Single rows: tensors that have the scanned axis, and no axis of all the others.
//
// A row has the loops of the scan alone, and runs inside those over the other axes only in the nest
// of the tensor that repeats it along them.
//   y[K, S] * broadcast(x[S]) + broadcast(cumsum(x)): each broadcast has a nest, and both need x
#pragma once

#include <optional>
#include <vector>

#include "base/refusal.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule::greedy {

/// Inputs that are single rows, and that several nests read: each nest loads for itself.
/// Cost: O(exprs).
[[nodiscard]] std::vector<TensorView*> rows_read_in_place(const FusionSummary& summary);

/// Refuses single rows that are computed, and that several nests need: the row would have to be
/// kept whole. Cost: O(exprs).
[[nodiscard]] std::optional<Refusal> find_row_of_several_nests(const FusionSummary& summary);

} // namespace nvfuser::schedule::greedy
