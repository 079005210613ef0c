#include <algorithm>
#include <utility>

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

/// The tensors of a row that are kept, and their bytes for each element.
struct KeptForm {
  int64_t bytes = 0;
  int64_t tensors = 0;
  bool is_stored = false; // inputs alone
};

/// The form in which later passes find a row, if they compute everything else but `kept`. None:
/// some inputs that they need are not whole rows, or something cannot be computed again.
std::optional<KeptForm> form_with(const FusionSummary& summary, const KeptRows& kept) {
  if (find_unrepeatable(summary, kept)) {
    return std::nullopt;
  }
  KeptForm form{.is_stored = kept.empty()};
  const auto keep = [&](const TensorView* row) {
    form.bytes += size_bytes(row->dtype());
    ++form.tensors;
  };
  std::ranges::for_each(kept, keep);
  const std::vector<TensorAccess>& accesses = summary.problem()->accesses;
  for (const TensorView* input : inputs_of_several_passes(summary, kept)) {
    const bool is_row = std::ranges::any_of(accesses, [&](const TensorAccess& access) {
      return access.tensor == input && is_streamed(access);
    });
    if (!is_row) {
      return std::nullopt;
    }
    keep(input);
  }
  return form.bytes > 0 ? std::optional(form) : std::nullopt;
}

/// The smaller of both forms; of equal ones that of fewer tensors, or what is stored: each pass
/// loads them.
std::optional<KeptForm> smallest_form(const FusionSummary& summary) {
  const std::optional<KeptForm> stored = form_with(summary, {});
  const std::optional<KeptForm> computed = form_with(summary, rows_of_first_pass(summary));
  const auto size = [](const KeptForm& form) { return std::pair(form.bytes, form.tensors); };
  return computed && (!stored || size(*computed) < size(*stored)) ? computed : stored;
}

/// Bytes that the reductions of a block need: a value of each thread, and those that blocks of a
/// cluster send, in two sets.
int64_t scratch_bytes(const FusionSummary& summary, const RowOfThreads& row) {
  int64_t values = 0;
  for (const ReductionFacts& reduction : summary.reductions()) {
    values += std::ssize(reduction.expr->outputs());
  }
  return values * (row.threads + 2 * row.blocks) * kRegisterBytes;
}

RowOfThreads with_blocks(int64_t blocks, const ProblemSizes& sizes) {
  RowOfThreads row{.lanes = sizes.vectors.lanes, .blocks = blocks};
  const int64_t part = ceil_div(ceil_div(sizes.reduced, row.lanes), blocks);
  const int64_t fewest = ceil_div(part, kThreads);
  row.batches = sizes.is_of_one_length ? fewest : bucket_above(fewest);
  const int64_t threads = ceil_div(part, row.batches);
  row.threads = padded_to_warps(threads);
  row.is_padded = row.threads != threads;
  row.is_in_shared_memory = true;
  return row;
}

} // namespace

std::optional<RowOfThreads> find_row_in_shared_memory(
    const FusionSummary& summary,
    const Target& target,
    const ProblemSizes& sizes,
    const RowOfThreads& in_registers) {
  const int64_t most = in_registers.blocks;
  const int64_t widest = most == Target::kPortableClusterSize ? target.max_cluster_size : most;
  const int64_t of_round = kBlocksOfSm * target.num_sms;
  const bool has_room = in_registers.share >= 1 && !in_registers.is_crowded;
  if (has_room || sizes.vectors.lanes > 1 || sizes.kept * most < of_round) {
    return std::nullopt;
  }
  const std::optional<KeptForm> form = smallest_form(summary);
  // Where one block has the row, shared memory is better if registers hold its elements as floats.
  const bool is_better = form && (most > 1 || form->bytes < kept_bytes(summary));
  std::optional<RowOfThreads> alone; // a block that has a multiprocessor
  for (int64_t blocks = 1; is_better && blocks <= widest; blocks *= 2) {
    RowOfThreads row = with_blocks(blocks, sizes);
    row.keeps_inputs = form->is_stored;
    const int64_t needed =
        row.batches * row.threads * row.lanes * form->bytes + scratch_bytes(summary, row);
    const int64_t taken = needed + target.reserved_shared_bytes;
    const int64_t resident = std::min(target.shared_bytes_per_sm / taken, kBlocksOfSm);
    const bool is_last = blocks >= most;
    if (needed > target.max_shared_bytes || (resident < kBlocksOfSm && !is_last)) {
      continue;
    }
    const bool has_rounds = sizes.kept * blocks >= kRounds * of_round;
    const bool is_enough = resident == kBlocksOfSm || most > 1 || in_registers.is_crowded;
    if (!is_enough || (!has_rounds && !is_last)) {
      continue;
    }
    row.registers = registers_of_thread(target, target.registers_per_sm, row.threads, resident);
    if (resident == kBlocksOfSm) {
      return row;
    }
    alone = alone ? alone : row;
  }
  return alone;
}

} // namespace nvfuser::schedule::persistent
