// Sums of exponentials about the maximum of their row, which need not be known before: of each few
// neighbours the maximum is found and the sum about that, and both are combined behind.
//   before:  m = max(x)   s = sum(exp(x - m))
//   after:   c = max(x of a chunk)   p = sum(exp(x - c) of the chunk)
//            m = max(c)              s = sum(p * exp(c - m))
// A maximum and a sum of each chunk are kept of a row between the two reductions.
#pragma once

#include <optional>
#include <vector>

#include "ir/reduce.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule {

struct RescaledSum {
  const ReductionOp* maximum = nullptr;
  const ReductionOp* sum = nullptr;
  TensorView* shift = nullptr; // the maximum, broadcast along the row
};

/// The reductions of a row that can be computed chunk by chunk.
struct ChunkedRow {
  std::vector<const ReductionOp*> direct; // of what no other reduction leads to
  std::vector<RescaledSum> rescaled;      // whose maxima are among them
};

/// No value: something else of the row is needed behind a reduction, or no sum is of this kind.
/// Requires: the summary has a problem, and all reductions have its axes.
/// Cost: O(exprs * rank).
[[nodiscard]] std::optional<ChunkedRow> find_chunked_row(const FusionSummary& summary);

/// The innermost axis that is reduced: chunks are runs of it.
[[nodiscard]] IterDomain* axis_of_chunks(const FusionSummary& summary);

/// The tensors that a row consists of behind `reduce_in_chunks`.
struct ReducedChunks {
  TensorView* reference = nullptr;  // that of the problem, whose row is one of chunks
  std::vector<TensorView*> results; // of reductions over chunks
  std::vector<TensorView*> maxima;  // of each chunk, those that sums are about
  std::vector<TensorView*> sums;    // of each chunk, about its maximum
};

/// Reduce chunks of `size` neighbours, and then what they were reduced to.
/// Requires: `size` divides the extent of `axis_of_chunks`; nothing is scheduled yet.
ReducedChunks reduce_in_chunks(const FusionSummary& summary, const ChunkedRow& row, int64_t size);

} // namespace nvfuser::schedule
