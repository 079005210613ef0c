#include <algorithm>

#include "base/register_file.h"
#include "schedule/common/recompute.h"
#include "schedule/common/staged_rows.h"
#include "schedule/persistent/layouts.h"
#include "schedule/persistent/persistent.h"

namespace nvfuser::schedule::persistent {
namespace {

/// Blocks of a multiprocessor: one loads its part while the other reduces and stores.
constexpr int64_t kBlocksOfSm = 2;
/// Threads keep nothing, so that two such blocks have enough registers.
constexpr int64_t kThreads = 1024;
/// Fewer rounds of blocks than that leave many multiprocessors idle in the last one.
constexpr int64_t kRounds = 2;

/// Bytes of an element of the inputs that are kept; none: some of them are not whole rows.
std::optional<int64_t> kept_input_bytes(const FusionSummary& summary) {
  int64_t bytes = 0;
  const std::vector<TensorAccess>& accesses = summary.problem()->accesses;
  for (const TensorView* input : inputs_of_several_passes(summary)) {
    const bool is_row = std::ranges::any_of(accesses, [&](const TensorAccess& access) {
      return access.tensor == input && is_streamed(access);
    });
    if (!is_row) {
      return std::nullopt;
    }
    bytes += size_bytes(input->dtype());
  }
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

/// Bytes that the reductions of a block need: a value of each thread, and those that warps of a
/// cluster send, in two sets.
int64_t scratch_bytes(const FusionSummary& summary, const RowOfThreads& row) {
  const int64_t sent = 2 * row.blocks * row.threads / Target::cuda().warp_size;
  int64_t values = 0;
  for (const ReductionFacts& reduction : summary.reductions()) {
    values += std::ssize(reduction.expr->outputs());
  }
  return values * (row.threads + sent) * kRegisterBytes;
}

RowOfThreads with_blocks(int64_t blocks, const ProblemSizes& sizes) {
  RowOfThreads row{.lanes = sizes.vectors.lanes, .blocks = blocks};
  const int64_t part = ceil_div(ceil_div(sizes.reduced, row.lanes), blocks);
  const int64_t fewest = ceil_div(part, kThreads);
  row.batches = sizes.is_of_one_length ? fewest : bucket_above(fewest);
  const int64_t threads = ceil_div(part, row.batches);
  row.threads = padded_to_warps(threads);
  row.is_padded = row.threads != threads;
  row.keeps_inputs = row.is_in_shared_memory = true;
  return row;
}

} // namespace

std::optional<RowOfThreads> find_row_in_shared_memory(
    const FusionSummary& summary,
    const Target& target,
    const ProblemSizes& sizes,
    const RowOfThreads& in_registers) {
  const int64_t most = in_registers.blocks;
  const int64_t of_round = kBlocksOfSm * target.num_sms;
  const bool has_room = in_registers.share >= 1 && !in_registers.is_crowded;
  if (has_room || sizes.vectors.lanes > 1 || sizes.kept * most < of_round ||
      find_unrepeatable(summary)) {
    return std::nullopt;
  }
  const std::optional<int64_t> bytes = kept_input_bytes(summary);
  // Where one block has the row, shared memory is better if registers hold its elements as floats.
  const bool is_better = bytes && (most > 1 || *bytes < kept_bytes(summary));
  for (int64_t blocks = 1; is_better && blocks <= most; blocks *= 2) {
    RowOfThreads row = with_blocks(blocks, sizes);
    const int64_t needed =
        row.batches * row.threads * row.lanes * *bytes + scratch_bytes(summary, row);
    const int64_t taken = needed + target.reserved_shared_bytes;
    const int64_t resident = std::min(target.shared_bytes_per_sm / taken, kBlocksOfSm);
    const bool is_last = blocks == most;
    if (needed > target.max_shared_bytes || (resident < kBlocksOfSm && !is_last)) {
      continue;
    }
    const bool has_rounds = sizes.kept * blocks >= kRounds * of_round;
    const bool is_enough = resident == kBlocksOfSm || most > 1 || in_registers.is_crowded;
    if (is_enough && (has_rounds || is_last)) {
      row.registers = registers_of_thread(target, target.registers_per_sm, row.threads, resident);
      return row;
    }
  }
  return std::nullopt;
}

} // namespace nvfuser::schedule::persistent
