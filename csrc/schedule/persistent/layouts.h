// How a row, or a group of columns, is dealt to threads so that what it keeps fits on chip.
#pragma once

#include <optional>

#include "schedule/common/problem_sizes.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule::persistent {

/// A row of a GPU.
struct RowOfThreads {
  int64_t lanes = 1;
  int64_t batches = 1; // vectors of a thread
  int64_t threads = 1; // of a row, or of its part in one block of a cluster
  int64_t rows = 1;    // of a block
  int64_t blocks = 1;  // of a cluster that shares a row
  bool is_padded = false;
  /// Inputs are kept as they are stored, and each pass computes what it needs from them.
  bool keeps_inputs = false;
  bool is_in_shared_memory = false; // what is kept; else in registers
  int64_t registers = 0;            // of a thread, at most: so that blocks fit beside each other
  bool is_crowded = false;          // by what is kept: few of its loads are under way at a time
  double share = 0; // of the rows that a multiprocessor should have, how many fit; at most 1
};
/// The share of a multiprocessor that has two rows: one is loaded or stored while the other waits.
inline constexpr double kEnoughShare = 0.6;
/// No value: registers cannot hold it.
[[nodiscard]] std::optional<RowOfThreads> find_row_of_threads(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes);

/// Rows that no vectors divide, and whose random numbers a block draws together: four, so that they
/// are whole groups of neighbours (common/drawn_rows.h). `alone`: the row as blocks have it
/// otherwise. No value: nothing is drawn, rows are too long for that, or too few.
[[nodiscard]] std::optional<RowOfThreads> find_rows_that_draw(
    const FusionSummary& summary,
    const Target& target,
    const ProblemSizes& sizes,
    const RowOfThreads& alone);

/// A row that the blocks of a cluster share. No value: the target has no clusters, the rows are too
/// many for the dimension of the grid that they would take, or even a cluster cannot hold one.
[[nodiscard]] std::optional<RowOfThreads> find_row_of_cluster(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes);

/// A row that no vectors divide, in the shared memory of the blocks that would have it in
/// registers, or of fewer, or of more where two of these share a multiprocessor: loads of single
/// elements take many threads, and registers leave room for few. As it is stored, or what the first
/// pass computed of it. No value: registers are enough or as good, elements cannot be computed
/// again in each pass, or even shared memory has no room.
[[nodiscard]] std::optional<RowOfThreads> find_row_in_shared_memory(
    const FusionSummary& summary,
    const Target& target,
    const ProblemSizes& sizes,
    const RowOfThreads& in_registers);

/// A row that blocks of the whole grid share: each keeps its part, as it is stored, in shared
/// memory. The blocks take rows in turns.
struct RowOfGrid {
  int64_t lanes = 1;
  int64_t batches = 1; // vectors of a thread
  int64_t threads = 1; // of the part of a row in one block
  int64_t blocks = 1;  // that share a row
  int64_t rows = 1;    // of a turn
  bool is_padded = false;
  int64_t registers = 0;
};
/// No value: blocks cannot wait for each other, elements cannot be computed again in each pass or
/// are too narrow for asynchronous copies, shared memory cannot hold a row, or squares are summed
/// about a mean and no shares are equal.
[[nodiscard]] std::optional<RowOfGrid> find_row_of_grid(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes);

/// A row of a GPU of which only maxima and sums of chunks are kept (common/rescaled_sums.h).
struct RowOfChunks {
  int64_t lanes = 1;     // of an access
  int64_t chunk = 1;     // elements
  int64_t batches = 1;   // chunks of a thread
  int64_t unroll = 1;    // chunks that a thread loads before it uses the first
  int64_t threads = 1;   // of a row
  int64_t registers = 0; // of a thread, at most
};
/// No value: what is needed of the row cannot be had from chunks, or the chunks are too many.
[[nodiscard]] std::optional<RowOfChunks> find_row_of_chunks(
    const FusionSummary& summary, const Target& target, const RunFacts& facts);

/// A row that is read again in each pass, of any size.
struct RereadRow {
  int64_t threads = 1;
  int64_t vectors = 1; // that a thread loads before it uses the first
};
/// No value: there are too few rows for the GPU, or for the processor.
[[nodiscard]] std::optional<RereadRow> find_reread_row(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes);

/// Columns of a block of a GPU.
struct ColumnsOfThreads {
  int64_t lanes = 1;   // neighbouring columns of a thread
  int64_t columns = 1; // threads along a row
  int64_t rows = 1;    // threads along a column
  int64_t batches = 1; // rows of a thread
};
[[nodiscard]] std::optional<ColumnsOfThreads> find_columns_of_threads(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes);

/// Rows of a task of a processor.
struct RowOfTask {
  int64_t lanes = 1;
  int64_t accumulators = 1; // of lanes
  int64_t rows = 1;
};
[[nodiscard]] RowOfTask row_of_task(const ProblemSizes& sizes);
/// No value: scratch memory cannot hold what is kept.
[[nodiscard]] std::optional<RowOfTask> find_row_of_task(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes);

/// How many columns a task of a processor has.
[[nodiscard]] std::optional<int64_t> find_columns_of_task(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes);

} // namespace nvfuser::schedule::persistent
