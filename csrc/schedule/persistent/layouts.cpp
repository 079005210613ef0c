#include "schedule/persistent/layouts.h"

#include <algorithm>

#include "base/launch_params.h"
#include "base/register_file.h"
#include "base/task_sizes.h"
#include "ir/random_exprs.h"
#include "schedule/common/drawn_rows.h"
#include "schedule/common/recompute.h"
#include "schedule/common/rescaled_sums.h"
#include "schedule/persistent/persistent.h"

namespace nvfuser::schedule::persistent {
namespace {

constexpr int64_t kWarp = Target::cuda().warp_size;
/// Registers of a thread for everything but what it keeps.
constexpr int64_t kOtherRegisters = 32;
/// The same of rows, whose vectors are counted.
constexpr int64_t kFewestOtherRegisters = 24;
constexpr int64_t kRegistersOfVector = 4;
/// Rows of a multiprocessor that are enough: while one is loaded, another is reduced. Computing
/// elements again in each pass takes as long as a third row gains.
constexpr int64_t kEnoughRows = 2;
constexpr int64_t kEnoughStoredRows = 3;
constexpr int64_t kFewBlocks = 3; // of a multiprocessor
/// Elements of a thread, of all inputs that are as large as the problem: enough loads in flight.
constexpr int64_t kElements = 32;
/// Elements of a thread, of a row that shares a kernel with rows of other sizes.
constexpr int64_t kMostElements = 64;
/// Longer parts of a row in the registers of one thread are the last resort: they are much code.
constexpr int64_t kMostRegistersOfRow = 40;
/// The worth of room for rows whose loads wait for each other: any other way is faster.
constexpr double kSlow = 1e-3;
constexpr int64_t kThreadsOfBlock = 128;
/// Rows of so few elements, which no vectors divide, share a warp.
constexpr int64_t kShortRow = 64;
constexpr int64_t kThreadsOfShortRow = 8;
/// Threads of blocks that draw for several rows: larger ones wait for each other too long.
constexpr int64_t kMostThreadsThatDraw = 512;
constexpr int64_t kThreadsOfColumns = 512;
constexpr int64_t kMostColumns = 32;
constexpr int64_t kFewestColumns = 8;
constexpr int64_t kBatches = 4;
/// Vectors of a thread that it loads before it uses the first, of a row of chunks.
constexpr int64_t kVectorsAhead = 4;
/// Registers of such a thread for everything but what it keeps and loads.
constexpr int64_t kOtherRegistersOfChunks = 16;
/// Accesses of a thread that one chunk may take: they share the lines of a cache.
constexpr int64_t kVectorsOfChunk = 8;

// -- of a processor --
constexpr int64_t kColumns = 64;
/// Tasks that are enough for most processors.
constexpr int64_t kTasks = 16;
/// Longer rows are sums of too many for one task, and cost it too much time.
constexpr int64_t kLongestRow = 2 * kTaskElements;
/// Rows are kept in steps of so many: what an inner loop takes.
constexpr int64_t kChain = 32;

/// Registers of a thread of such blocks that may keep elements.
int64_t registers_for_rows(const Target& target, int64_t threads) {
  return registers_of_thread(target, target.registers_per_block, threads) - kOtherRegisters;
}

/// The form in which a thread keeps each element.
struct KeptForm {
  int64_t bytes = 0;
  bool is_stored = false; // as the inputs are
  /// Elements of 16 bits that are loaded one by one: each is packed with the one before, and waits
  /// for it. Only where nothing else fits.
  bool is_packed_one_by_one = false;
};

/// Computed once; and as it is stored, where that is smaller and can be computed again.
std::vector<KeptForm> kept_forms(const FusionSummary& summary, const ProblemSizes& sizes) {
  std::vector<KeptForm> forms{{.bytes = std::max(kept_bytes(summary), kRegisterBytes)}};
  KeptForm stored{.is_stored = true};
  for (const TensorView* input : inputs_of_several_passes(summary)) {
    const int64_t bytes = size_bytes(input->dtype());
    stored.bytes += bytes;
    stored.is_packed_one_by_one |= sizes.vectors.lanes * bytes < kRegisterBytes;
  }
  if (stored.bytes < forms.front().bytes && !find_unrepeatable(summary)) {
    forms.push_back(stored);
  }
  return forms;
}

/// Registers of a thread for everything but what it keeps: addresses, accumulators, and a vector of
/// each tensor that the last pass reads or writes. Where elements are kept as they are stored, what
/// is written takes their place. Shifted rows need fewer: the vectors of their weights are put
/// together when the tests of their ends are done.
int64_t other_registers(
    const FusionSummary& summary, const ProblemSizes& sizes, const KeptForm& form) {
  if (sizes.is_shifted) {
    return form.is_stored ? kFewestOtherRegisters : kOtherRegisters;
  }
  const std::vector<TensorAccess>& accesses = summary.problem()->accesses;
  int64_t registers = kFewestOtherRegisters;
  for (size_t i = 0; i < accesses.size(); ++i) {
    const bool is_beside = accesses[i].is_output
                               ? !form.is_stored
                               : !accesses[i].has_all_axes && sizes.vectors.widths.at(i) > 1;
    registers += is_beside ? kRegistersOfVector : 0;
  }
  return registers;
}

/// How many blocks fit on a multiprocessor beside each other.
int64_t blocks_of_sm(const Target& target, int64_t threads, int64_t registers) {
  if (registers > target.max_registers_per_thread) {
    return 0;
  }
  return std::min(
      blocks_with_registers(target, threads, registers), target.max_threads_per_sm / threads);
}

/// Random numbers are much arithmetic: it hides loads, and barriers among many warps cost more.
bool draws_random_numbers(const FusionSummary& summary) {
  return std::ranges::any_of(summary.exprs(), [](const Expr* expr) { return expr->is_a<RNGOp>(); });
}

/// The most registers of a thread with which so many blocks fit. Compilers use up what they are
/// given: where many fit, they find the better number by themselves, but for long arithmetic.
int64_t registers_of_blocks(
    const Target& target, int64_t threads, int64_t blocks, bool is_long = false) {
  if (blocks > kFewBlocks && !is_long) {
    return target.max_registers_per_thread;
  }
  return registers_of_thread(target, target.registers_per_sm, threads, blocks);
}

/// How much of the rows that a multiprocessor should have fits on it, at most 1.
double share_of_enough(int64_t rows, int64_t kept_registers, const KeptForm& form) {
  const int64_t enough = form.is_stored ? kEnoughStoredRows : kEnoughRows;
  const int64_t counted = kept_registers > kMostRegistersOfRow ? std::min<int64_t>(rows, 1) : rows;
  return std::min(1.0, static_cast<double>(counted) / static_cast<double>(enough));
}

/// `wanted`, and what it is doubled and halved to between `fewest` and `most`: the nearest first.
std::vector<int64_t> by_distance(int64_t wanted, int64_t fewest, int64_t most) {
  std::vector<int64_t> numbers{wanted};
  for (int64_t step = 2; wanted * step < 2 * most || wanted / step >= fewest; step *= 2) {
    if (wanted * step < 2 * most) {
      numbers.push_back(std::min(wanted * step, most));
    }
    if (wanted / step >= fewest) {
      numbers.push_back(wanted / step);
    }
  }
  return numbers;
}

/// Vectors of a thread that has to keep `batches` of them: a number that rows of other sizes have
/// as well, if they share a kernel. Where that is much, each vector counts.
int64_t shared_batches(int64_t batches, const ProblemSizes& sizes) {
  const int64_t lanes = sizes.vectors.lanes;
  if (sizes.is_of_one_length || batches <= 3 || batches * lanes > kMostElements) {
    return batches;
  }
  return power_of_two_above(batches) * lanes <= kMostElements ? power_of_two_above(batches)
                                                              : bucket_above(batches);
}

/// The row with at most so many threads.
RowOfThreads row_of(int64_t threads, const ProblemSizes& sizes) {
  RowOfThreads row{.lanes = sizes.vectors.lanes};
  const int64_t vectors = ceil_div(sizes.reduced, row.lanes);
  row.batches = shared_batches(ceil_div(vectors, threads), sizes);
  row.threads = ceil_div(vectors, row.batches);
  row.is_padded = row.threads > kWarp / 2 && row.threads % kWarp != 0;
  if (row.is_padded) {
    row.threads = padded_to_warps(row.threads);
    row.batches = sizes.is_of_one_length ? ceil_div(vectors, row.threads) : row.batches;
  }
  row.rows = std::clamp<int64_t>(
      power_of_two_below(kThreadsOfBlock / row.threads), 1, power_of_two_above(sizes.kept));
  return row;
}

/// A warp that has several rows reduces all of them with one shuffle. It can where the threads of a
/// row are a power of two, all of which have elements. None: rows are long, have vectors, or are
/// few.
std::optional<RowOfThreads> find_row_beside_others(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes) {
  const bool has_many_rows = sizes.kept >= target.num_sms * target.warp_size;
  if (sizes.vectors.lanes > 1 || sizes.reduced > kShortRow || !has_many_rows) {
    return std::nullopt;
  }
  int64_t threads = kThreadsOfShortRow;
  while (ceil_div(sizes.reduced, ceil_div(sizes.reduced, threads)) != threads) {
    threads /= 2;
  }
  RowOfThreads row{
      .batches = ceil_div(sizes.reduced, threads),
      .threads = threads,
      .rows = kThreadsOfBlock / threads,
      .registers = target.max_registers_per_thread};
  row.share = 1;
  const int64_t bytes = row.batches * std::max(kept_bytes(summary), kRegisterBytes);
  return bytes <= kMostRegistersOfRow * kRegisterBytes ? std::optional(row) : std::nullopt;
}

} // namespace

std::optional<RowOfThreads> find_row_of_threads(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes) {
  if (const auto short_row = find_row_beside_others(summary, target, sizes)) {
    return short_row;
  }
  const int64_t vectors = ceil_div(sizes.reduced, sizes.vectors.lanes);
  const bool is_long = draws_random_numbers(summary);
  const int64_t elements =
      is_long ? kElements : kElements / std::clamp<int64_t>(sizes.streams, 1, 4);
  const int64_t most = std::min(power_of_two_above(vectors), target.max_threads_per_block);
  const int64_t fewest = std::min(most, kWarp);
  const bool has_few_rows = sizes.kept < target.num_sms;
  const int64_t wanted =
      has_few_rows ? most : std::clamp(ceil_div(sizes.reduced, elements), fewest, most);
  const std::vector<KeptForm> forms = kept_forms(summary, sizes);
  // The first of the best: what is nearest to the wanted number of threads, and computed once.
  std::optional<RowOfThreads> best;
  double best_share = 0;
  for (const int64_t threads : by_distance(wanted, fewest, most)) {
    for (const KeptForm& form : forms) {
      RowOfThreads row = row_of(threads, sizes);
      row.keeps_inputs = form.is_stored;
      const int64_t kept = ceil_div(row.batches * row.lanes * form.bytes, kRegisterBytes);
      const int64_t blocks = blocks_of_sm(
          target, row.threads * row.rows, other_registers(summary, sizes, form) + kept);
      const double share =
          share_of_enough(blocks * row.rows, kept, form) * (form.is_packed_one_by_one ? kSlow : 1);
      if (share > best_share) {
        row.registers = registers_of_blocks(target, row.threads * row.rows, blocks, is_long);
        row.is_crowded = kept > kMostRegistersOfRow || form.is_packed_one_by_one;
        row.share = share;
        best = row;
        best_share = share;
      }
      if (has_few_rows && best) {
        return best; // no second one waits for a multiprocessor
      }
    }
  }
  return best;
}

std::optional<RowOfThreads> find_rows_that_draw(
    const FusionSummary& summary,
    const Target& target,
    const ProblemSizes& sizes,
    const RowOfThreads& alone) {
  const bool has_many_rows = sizes.kept >= kEnoughRows * kNumbersOfCipher * target.num_sms;
  const int64_t drawn_bytes = kNumbersOfCipher * sizes.reduced * kRegisterBytes; // at most
  if (alone.blocks > 1 || alone.keeps_inputs || sizes.vectors.lanes >= kNumbersOfCipher ||
      !sizes.is_of_one_length || !has_many_rows || drawn_bytes > target.max_shared_bytes ||
      !draws_rows(summary)) {
    return std::nullopt;
  }
  RowOfThreads row = row_of(alone.threads, sizes);
  row.rows = kNumbersOfCipher;
  const KeptForm form = kept_forms(summary, sizes).front();
  const int64_t kept = ceil_div(row.batches * row.lanes * form.bytes, kRegisterBytes);
  const int64_t threads = row.threads * row.rows;
  const int64_t blocks =
      blocks_of_sm(target, threads, other_registers(summary, sizes, form) + kept);
  if (kept > kMostRegistersOfRow || threads > kMostThreadsThatDraw || blocks == 0) {
    return std::nullopt;
  }
  row.registers = registers_of_blocks(target, threads, blocks, /*is_long=*/true);
  row.share = 1;
  return row;
}

/// Smaller parts leave room for those of other rows, which are loaded while these wait for each
/// other: as many blocks as that takes, and no more.
std::optional<RowOfThreads> find_row_of_cluster(
    const FusionSummary& summary, const Target& target, const ProblemSizes& sizes) {
  // Where rows leave a multiprocessor one block, long arithmetic of another one fills its waits.
  const bool may_be_wide = sizes.is_shifted && draws_random_numbers(summary);
  const int64_t most = may_be_wide
                           ? target.max_cluster_size
                           : std::min(target.max_cluster_size, Target::kPortableClusterSize);
  std::optional<RowOfThreads> found;
  if (!target.is_cuda() || sizes.kept > LaunchParams::kMaxGridYZ) {
    return found;
  }
  const auto is_enough = [](const std::optional<RowOfThreads>& row) {
    return row && !row->is_crowded && row->share >= kEnoughShare;
  };
  for (int64_t blocks = 2; blocks <= most && !is_enough(found); blocks *= 2) {
    ProblemSizes part = sizes;
    part.reduced = ceil_div(sizes.reduced, blocks);
    part.kept = sizes.kept * blocks;
    const std::optional<RowOfThreads> row = find_row_of_threads(summary, target, part);
    const bool is_better = row && found &&
                           (row->share > found->share ||
                            (row->share == found->share && found->is_crowded && !row->is_crowded));
    if (row && (!found || is_better)) {
      found = row;
      found->rows = 1;
      found->blocks = blocks;
    }
  }
  return found;
}

std::optional<RowOfChunks> find_row_of_chunks(
    const FusionSummary& summary, const Target& target, const RunFacts& facts) {
  const ProblemSizes sizes = sizes_of(*summary.problem(), facts);
  const std::optional<ChunkedRow> row = find_chunked_row(summary);
  if (!target.is_cuda() || !row || sizes.kept < target.num_sms) {
    return std::nullopt;
  }
  const int64_t neighbours = facts.size(axis_of_chunks(summary)->extent());
  // Floats of a chunk: one for each reduction.
  const auto kept = static_cast<int64_t>(row->direct.size() + row->rescaled.size());
  const int64_t others = kOtherRegistersOfChunks +
                         kVectorsAhead * kRegistersOfVector * std::max<int64_t>(sizes.streams, 1);
  std::optional<RowOfChunks> best;
  int64_t most_blocks = 0;
  for (int64_t vectors = 1; vectors <= kVectorsOfChunk; vectors *= 2) {
    const int64_t chunk = sizes.vectors.lanes * vectors;
    if (neighbours % chunk != 0 || chunk <= kept) {
      continue;
    }
    const int64_t chunks = sizes.reduced / chunk;
    const int64_t unroll = std::max<int64_t>(kVectorsAhead / vectors, 1);
    for (const int64_t wanted : {target.max_threads_per_block / 2, target.max_threads_per_block}) {
      const int64_t threads = std::min(padded_to_warps(chunks), wanted);
      const int64_t batches = ceil_div(ceil_div(chunks, threads), unroll) * unroll;
      const int64_t blocks = blocks_of_sm(target, threads, others + batches * kept);
      if (std::min(blocks, kEnoughRows) > most_blocks) {
        most_blocks = blocks;
        best = {
            .lanes = sizes.vectors.lanes,
            .chunk = chunk,
            .batches = batches,
            .unroll = unroll,
            .threads = padded_to_warps(ceil_div(chunks, batches)),
            .registers = registers_of_blocks(target, threads, blocks)};
      }
    }
  }
  return best;
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
      .threads = std::min(
          power_of_two_above(ceil_div(sizes.reduced, sizes.vectors.lanes)),
          target.max_threads_per_block),
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
      const auto fits = [&](int64_t batches) {
        const int64_t kept = batches * lanes * bytes / kRegisterBytes;
        return kept <= registers_for_rows(target, columns * ceil_div(sizes.reduced, batches));
      };
      const int64_t fewest = ceil_div(sizes.reduced, rows);
      for (const int64_t batches : {power_of_two_above(fewest), bucket_above(fewest), fewest}) {
        found.batches = fewest <= 3 ? fewest : batches;
        found.rows = ceil_div(sizes.reduced, found.batches);
        if (fits(found.batches)) {
          return found;
        }
      }
    }
  }
  return std::nullopt;
}

RowOfTask row_of_task(const ProblemSizes& sizes) {
  RowOfTask row;
  row.lanes = std::min(
      lanes_of_step(sizes.widest_bytes, sizes.narrowest_bytes), power_of_two_above(sizes.reduced));
  row.accumulators =
      std::min(kLaneAccumulators, power_of_two_below(ceil_div(sizes.reduced, row.lanes)));
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
