#include <algorithm>

#include "base/register_file.h"
#include "schedule/common/moments.h"
#include "schedule/common/recompute.h"
#include "schedule/common/staged_rows.h"
#include "schedule/persistent/layouts.h"

namespace nvfuser::schedule::persistent {
namespace {

/// Blocks of a multiprocessor: while one waits for the others of its row, those of other rows load
/// and store.
constexpr int64_t kBlocksOfSm = 4;
/// Shared memory of a block for what its threads sum; of each thread for a Welford.
constexpr int64_t kScratchBytes = 4096;
constexpr int64_t kWelfordBytes = 32;
constexpr int64_t kMostThreads = 256;
constexpr int64_t kFewestThreads = 128;
/// The least share of the blocks that fit on the GPU: a few are given up for equal shares.
constexpr int64_t kBusyTenths = 9;

/// Bytes of an element, as blocks keep it; no value: it cannot be kept so.
std::optional<int64_t> staged_bytes(const FusionSummary& summary, const ProblemSizes& sizes) {
  int64_t bytes = 0;
  const std::vector<const TensorView*> kept = inputs_of_several_passes(summary);
  const std::vector<TensorAccess>& accesses = summary.problem()->accesses;
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (std::ranges::find(kept, accesses[i].tensor) == kept.end() || accesses[i].is_output) {
      continue;
    }
    if (!is_staged(accesses[i], sizes.vectors.widths[i])) {
      return std::nullopt;
    }
    bytes += size_bytes(accesses[i].tensor->dtype());
  }
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

/// Welfords, which means with squares about them become.
int64_t count_welfords(const FusionSummary& summary) {
  const auto others = std::ranges::count_if(
      summary.reductions(),
      [](const ReductionFacts& reduction) { return reduction.expr->outputs().size() > 1; });
  return static_cast<int64_t>(find_moments(summary, Differences::OfOthersToo).size()) + others;
}

/// The threads that have equal shares of `vectors`; as many as a block may have, if no number does.
int64_t threads_for(int64_t vectors) {
  for (int64_t threads = kMostThreads; threads >= kFewestThreads;
       threads -= Target::cuda().warp_size) {
    if (vectors % threads == 0) {
      return threads;
    }
  }
  return kMostThreads;
}

RowOfGrid with_blocks(
    RowOfGrid row, int64_t blocks, const Target& target, const ProblemSizes& sizes) {
  const int64_t vectors = ceil_div(ceil_div(sizes.reduced, row.lanes), blocks);
  row.blocks = blocks;
  row.threads = threads_for(vectors);
  row.batches = ceil_div(vectors, row.threads);
  row.batches = sizes.is_of_one_length ? row.batches : bucket_above(row.batches);
  row.threads = padded_to_warps(ceil_div(vectors, row.batches));
  row.is_padded = row.threads * row.batches != vectors;
  row.registers = registers_of_thread(target, target.registers_per_sm, row.threads, kBlocksOfSm);
  return row;
}

/// Whether no vector has to be tested.
bool is_even(const RowOfGrid& row, const ProblemSizes& sizes) {
  return row.blocks * row.threads * row.batches * row.lanes == sizes.reduced;
}

} // namespace

std::optional<RowOfGrid> find_row_of_grid(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes) {
  if (!target.is_cuda() || !target.has_cooperative_launch || find_unrepeatable(summary)) {
    return std::nullopt;
  }
  const std::optional<int64_t> bytes = staged_bytes(summary, sizes);
  if (!bytes) {
    return std::nullopt;
  }
  // With tests of elements besides, the arithmetic of Welfords would take as long as reading the
  // rows again in a second kernel.
  const int64_t welfords = count_welfords(summary);
  const int64_t room = target.shared_bytes_per_sm / kBlocksOfSm - target.reserved_shared_bytes;
  const int64_t resident = target.num_sms * kBlocksOfSm;
  const int64_t fewest = ceil_div(sizes.reduced * *bytes, room - kScratchBytes);
  if (fewest > resident) {
    return std::nullopt;
  }
  RowOfGrid row{.lanes = sizes.vectors.lanes};
  std::optional<RowOfGrid> found;
  for (row.rows = std::min(resident / fewest, sizes.kept); row.rows > 0; --row.rows) {
    const int64_t busy = std::max(fewest, ceil_div(resident * kBusyTenths, 10 * row.rows));
    for (int64_t blocks = resident / row.rows; blocks >= busy; --blocks) {
      const RowOfGrid candidate = with_blocks(row, blocks, target, sizes);
      const int64_t scratch = std::max(kScratchBytes, candidate.threads * welfords * kWelfordBytes);
      const bool fits =
          candidate.threads * candidate.batches * candidate.lanes * *bytes + scratch <= room;
      if (fits && is_even(candidate, sizes)) {
        return candidate;
      }
      if (fits && !found && welfords == 0) {
        found = candidate;
      }
    }
  }
  return found;
}

} // namespace nvfuser::schedule::persistent
