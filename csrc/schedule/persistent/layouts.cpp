#include "schedule/persistent/layouts.h"

#include <algorithm>

#include "schedule/common/recompute.h"
#include "schedule/persistent/persistent.h"

namespace nvfuser::schedule::persistent {
namespace {

constexpr int64_t kRegisterBytes = 4;
constexpr int64_t kWarp = Target::cuda().warp_size;
constexpr int64_t kMostThreads = 1024;
/// Registers of a thread for everything but what it keeps.
constexpr int64_t kOtherRegisters = 32;
/// Elements of a thread, of all inputs that are as large as the problem: enough loads in flight.
constexpr int64_t kElements = 32;
constexpr int64_t kThreadsOfBlock = 128;
constexpr int64_t kThreadsOfColumns = 512;
constexpr int64_t kMostColumns = 32;
constexpr int64_t kFewestColumns = 8;
constexpr int64_t kBatches = 4;

// -- of a processor --
constexpr int64_t kLaneBytes = 64;
constexpr int64_t kAccumulators = 4;
constexpr int64_t kTaskElements = 16 * 1024;
constexpr int64_t kColumns = 64;
/// Tasks that are enough for most processors.
constexpr int64_t kTasks = 16;
/// Longer rows are sums of too many for one task, and cost it too much time.
constexpr int64_t kLongestRow = 2 * kTaskElements;
/// Rows are kept in steps of so many: what an inner loop takes.
constexpr int64_t kChain = 32;

/// Registers of a thread of such blocks that may keep elements.
int64_t registers_for_rows(const Target& target, int64_t threads) {
  const int64_t all = target.registers_per_block / padded_to_warps(threads) /
                      target.register_granularity * target.register_granularity;
  return std::min(all, target.max_registers_per_thread) - kOtherRegisters;
}

} // namespace

std::optional<RowOfThreads> find_row_of_threads(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes) {
  const int64_t bytes = std::max(kept_bytes(summary), kRegisterBytes);
  RowOfThreads row{.lanes = sizes.vectors.lanes};
  const int64_t vectors = ceil_div(sizes.reduced, row.lanes);
  const int64_t elements = kElements / std::clamp<int64_t>(sizes.streams, 1, 4);
  const bool has_few_rows = sizes.kept < target.num_sms;
  const int64_t most = std::min(power_of_two_above(vectors), kMostThreads);
  const int64_t wanted = ceil_div(sizes.reduced, elements);
  int64_t threads = has_few_rows ? most : std::clamp(wanted, std::min(most, kWarp), most);
  const auto fits = [&](int64_t count) {
    const int64_t kept = ceil_div(vectors, count) * row.lanes * bytes / kRegisterBytes;
    return kept <= registers_for_rows(target, count);
  };
  while (threads < most && !fits(threads)) {
    threads *= 2;
  }
  while (threads > kWarp && !fits(threads)) {
    threads /= 2; // fewer threads have more registers
  }
  if (!fits(threads)) {
    return std::nullopt;
  }
  row.batches = ceil_div(vectors, threads);
  row.threads = ceil_div(vectors, row.batches);
  row.is_padded = row.threads > kWarp / 2 && row.threads % kWarp != 0;
  row.threads = row.is_padded ? padded_to_warps(row.threads) : row.threads;
  row.rows = std::clamp<int64_t>(
      power_of_two_below(kThreadsOfBlock / row.threads), 1, power_of_two_above(sizes.kept));
  return row;
}

std::optional<RereadRow> find_reread_row(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes) {
  const int64_t enough_rows = target.is_cuda() ? target.num_sms : kTasks;
  const bool has_update =
      std::ranges::any_of(summary.problem()->accesses, [](const TensorAccess& access) {
        return access.updated_input.has_value(); // a later pass would read what it wrote
      });
  if (sizes.kept < enough_rows || has_update || find_unrepeatable(summary)) {
    return std::nullopt;
  }
  return RereadRow{
      .threads =
          std::min(power_of_two_above(ceil_div(sizes.reduced, sizes.vectors.lanes)), kMostThreads),
      .vectors = power_of_two_below(kBatches / std::max<int64_t>(sizes.streams, 1))};
}

std::optional<ColumnsOfThreads> find_columns_of_threads(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes) {
  const int64_t bytes = std::max(kept_bytes(summary), kRegisterBytes);
  for (int64_t lanes = sizes.vectors.lanes; lanes > 0; lanes /= 2) {
    const int64_t vectors = ceil_div(sizes.kept, lanes);
    const int64_t widest = std::min(power_of_two_above(vectors), kMostColumns);
    for (int64_t columns = widest; columns >= std::min(widest, kFewestColumns); columns /= 2) {
      const int64_t most_rows = kThreadsOfColumns / columns;
      const int64_t rows =
          std::min(power_of_two_above(ceil_div(sizes.reduced, kBatches)), most_rows);
      ColumnsOfThreads found{.lanes = lanes, .columns = columns};
      found.batches = ceil_div(sizes.reduced, rows);
      found.rows = ceil_div(sizes.reduced, found.batches);
      const int64_t kept = found.batches * lanes * bytes / kRegisterBytes;
      if (kept <= registers_for_rows(target, columns * found.rows)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

RowOfTask row_of_task(const ProblemSizes& sizes) {
  RowOfTask row;
  row.lanes = std::min(kLaneBytes / sizes.widest_bytes, power_of_two_above(sizes.reduced));
  row.accumulators =
      std::min(kAccumulators, power_of_two_below(ceil_div(sizes.reduced, row.lanes)));
  row.rows = std::clamp<int64_t>(kTaskElements / sizes.reduced, 1, sizes.kept);
  return row;
}

std::optional<RowOfTask> find_row_of_task(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes) {
  const RowOfTask row = row_of_task(sizes);
  const int64_t step = row.lanes * row.accumulators;
  const int64_t elements = ceil_div(sizes.reduced, step) * step;
  const bool fits = elements * stored_bytes(summary) <= target.max_shared_bytes;
  return fits && sizes.reduced <= kLongestRow ? std::optional(row) : std::nullopt;
}

std::optional<int64_t> find_columns_of_task(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes) {
  const int64_t most = std::min(kColumns, power_of_two_above(sizes.kept));
  const int64_t rows = ceil_div(sizes.reduced, kChain) * kChain;
  for (int64_t columns = most; columns >= std::min(most, kLaneBytes / sizes.widest_bytes);
       columns /= 2) {
    if (rows * columns * stored_bytes(summary) <= target.max_shared_bytes) {
      return columns;
    }
  }
  return std::nullopt;
}

} // namespace nvfuser::schedule::persistent
