#include <algorithm>
#include <array>

#include "base/register_file.h"
#include "schedule/common/problem_sizes.h"
#include "schedule/common/recompute.h"
#include "schedule/common/shifted_rows.h"
#include "schedule/common/staged_rows.h"
#include "schedule/inner_outer/inner_outer.h"
#include "schedule/params/reduction_params.h"
#include "schedule/persistent/persistent.h"

namespace nvfuser::schedule::inner_outer {
namespace {

constexpr int64_t kWarp = Target::cuda().warp_size;
/// Elements of a thread, of rows that are not long.
constexpr int64_t kElements = 16;
/// The same of rows that one warp has: two warps would wait for each other. Also of rows that two
/// blocks of a multiprocessor have in shared memory, one of which fills the waits of the other, or
/// the blocks of the largest clusters.
constexpr int64_t kElementsOfWarp = 32;
/// The same of rows that threads load when they need them: the more warps, the shorter the wait.
constexpr std::array<int64_t, 3> kElementsLoadedLate = {8, 12, 16};
/// Rows of a block, of such that one warp has: no barrier holds them together.
constexpr int64_t kRowsOfBlock = 8;
/// Bytes that each thread of a row in registers loads before it uses the first.
constexpr int64_t kBytesOfThread = 32;
constexpr int64_t kFewestThreads = 8;
/// Registers of a thread for everything but elements and sums.
constexpr int64_t kOtherRegisters = 48;
constexpr int64_t kMostBlocksOfSm = 8;
/// The same where few blocks fit: compilers then make do with these.
constexpr int64_t kFewestOtherRegisters = 24;
/// Blocks of a multiprocessor that load rows when they need them: while one waits, another
/// computes.
constexpr int64_t kEnoughBlocks = 2;
/// Warps of a block that is alone on its multiprocessor: while some wait, others compute.
constexpr int64_t kManyWarps = 20;
/// Rows that a block takes one after the other.
constexpr int64_t kManyTurns = 16;
/// Registers of a thread that loads from shared memory for each pass, for everything but sums.
constexpr int64_t kRegistersBesideSums = 32;
/// Multiprocessors come in groups, each with whole clusters: of larger ones it leaves a rest.
constexpr int64_t kLargeCluster = 4;
constexpr int64_t kShareInClusters = 7;
constexpr int64_t kWholeShare = 8;
/// The share of them that is enough where rows are shifted.
constexpr int64_t kShareInStep = 6;
/// Rows in shared memory: one is read while the next one is loaded. A third gained nothing, but
/// where rows are so short that their loads do not take the latency of the memory.
constexpr int64_t kStages = 2;
constexpr int64_t kStagesOfShortRows = 4;
/// Partial sums of a column that a thread loads before it adds the first.
constexpr int64_t kLoads = 16;
/// The time of such loads, where that of a block's sum is one.
constexpr int64_t kTimeOfLoads = 2;

/// Bytes for each element of a row.
struct ElementBytes {
  int64_t streamed = 0; // inputs that every row has anew
  int64_t staged = 0;   // of these, what passes through shared memory
  int64_t columns = 0;  // inputs that all rows share
  int64_t sums = 0;     // over rows
};

ElementBytes bytes_of_element(const FusionSummary& summary, const VectorWidths& vectors) {
  ElementBytes bytes;
  const ReductionProblem& problem = *summary.problem();
  for (size_t i = 0; i < problem.accesses.size(); ++i) {
    const TensorAccess& access = problem.accesses[i];
    const int64_t size = size_bytes(access.tensor->dtype());
    bytes.streamed += is_streamed(access) ? size : 0;
    bytes.staged += is_staged(access, vectors.widths[i]) ? size : 0;
    bytes.columns += is_of_columns(access, problem) ? size : 0;
  }
  for (const ReductionFacts* facts : outer_reductions(summary)) {
    bytes.sums += std::max(size_bytes(facts->out->dtype()), kRegisterBytes);
  }
  return bytes;
}

/// Shared memory of a block for values that its threads, and the blocks of its cluster, send each
/// other: each reduction of rows has a value for each thread, and for each block of the cluster
/// two.
int64_t scratch_bytes(const FusionSummary& summary, const RowLayout& row) {
  const std::vector<const ReductionFacts*> outer = outer_reductions(summary);
  int64_t bytes = 0;
  for (const ReductionFacts& facts : summary.reductions()) {
    if (std::ranges::find(outer, &facts) == outer.end()) {
      bytes += std::max(size_bytes(facts.out->dtype()), kRegisterBytes) *
               (row.warps * row.threads + 2 * row.cluster);
    }
  }
  return bytes;
}

/// How many clusters the GPU has at a time, with so many blocks on each multiprocessor.
int64_t resident_clusters(const Target& target, int64_t blocks_of_sm, int64_t cluster) {
  const int64_t blocks = target.num_sms * blocks_of_sm;
  return cluster < kLargeCluster ? blocks / cluster
                                 : blocks * kShareInClusters / (kWholeShare * cluster);
}

/// Threads of a row that one warp has, or shares with others: so few that their loads together take
/// the latency of the memory. `bytes`: of a vector of each stream.
int64_t threads_of_short_row(const ProblemSizes& sizes, int64_t bytes, int64_t vectors) {
  int64_t threads = kWarp;
  while (sizes.is_of_one_length && threads > kFewestThreads &&
         ceil_div(vectors, threads) * bytes < kBytesOfThread) {
    threads /= 2;
  }
  return threads;
}

/// The layout of `row`, whose blocks of a cluster and form of elements are known, with about so
/// many elements of a thread.
std::optional<RowLayout> find_layout(
    RowLayout row,
    const FusionSummary& summary,
    const Target& target,
    ProblemSizes sizes,
    int64_t wanted) {
  const ElementBytes bytes = bytes_of_element(summary, sizes.vectors);
  const int64_t cluster = row.cluster;
  sizes.reduced = ceil_div(sizes.reduced, cluster);
  const int64_t of_element = (row.keeps_inputs ? bytes.streamed : persistent::kept_bytes(summary)) +
                             bytes.columns + bytes.sums;
  while (row.lanes > 1 && sizes.reduced <= row.lanes / 2 * kWarp) {
    row.lanes /= 2; // vectors for all lanes of a warp
  }
  const int64_t vectors = ceil_div(sizes.reduced, row.lanes);
  const int64_t most_warps = target.max_threads_per_block / kWarp;
  const bool are_few = bytes.staged == 0 || cluster > 1 || row.is_shifted;
  const int64_t others = are_few ? kFewestOtherRegisters : kOtherRegisters;
  row.warps = bytes.staged > 0 && cluster == 1 && sizes.reduced <= kElementsOfWarp * kWarp
                  ? 1
                  : bucket_above(std::min(ceil_div(sizes.reduced, wanted * kWarp), most_warps));
  for (; row.warps <= most_warps; row.warps *= 2) {
    row.threads = row.warps == 1 && cluster == 1 && bytes.staged == 0
                      ? threads_of_short_row(sizes, row.lanes * bytes.streamed, vectors)
                      : kWarp;
    row.batches = ceil_div(vectors, row.warps * row.threads);
    row.batches = sizes.is_of_one_length ? row.batches : bucket_above(row.batches);
    const int64_t elements = row.batches * row.lanes;
    const int64_t needed = ceil_div(elements * of_element, kRegisterBytes) + others;
    row.rows = row.warps == 1 && cluster == 1 ? kRowsOfBlock * kWarp / row.threads : 1;
    const int64_t threads = row.warps * row.threads * row.rows;
    int64_t fitting = std::min(
        {target.registers_per_sm / (threads * needed), kMostBlocksOfSm,
         target.max_threads_per_sm / threads});
    if (needed > target.max_registers_per_thread || fitting == 0) {
      continue;
    }
    const int64_t stage_bytes = row.rows * row.warps * row.threads * elements * bytes.staged;
    const int64_t shares = ceil_div(sizes.kept, row.rows);
    const int64_t stages = row.rows > 1 ? kStagesOfShortRows : kStages;
    const int64_t fitting_stages =
        target.shared_bytes_per_sm / (stages * stage_bytes + 2 * target.reserved_shared_bytes);
    if (row.rows > 1 && elements > kElements && fitting_stages == 0) {
      continue; // so long that only loads ahead make up for few warps
    }
    row.warps = ceil_div(ceil_div(vectors, row.batches), row.threads);
    row.warps = sizes.is_of_one_length ? row.warps : bucket_above(row.warps);
    // Short rows in any case: few and many share a kernel.
    const bool has_turns = row.rows > 1 || shares > resident_clusters(target, fitting, cluster);
    if (bytes.staged > 0 && fitting_stages > 0 && has_turns) {
      row.stages = stages;
      fitting = std::min(fitting, fitting_stages);
    }
    row.blocks = std::min(
        row.rows > 1 ? power_of_two_above(shares) : bucket_above(shares),
        resident_clusters(target, fitting, cluster));
    row.blocks_of_sm = fitting;
    row.registers = registers_of_thread(
        target, target.registers_per_sm, row.rows * row.warps * row.threads, fitting);
    return row;
  }
  return std::nullopt;
}

/// The layout of rows that clusters of so many blocks share.
std::optional<RowLayout> find_row_of_cluster(
    const FusionSummary& summary,
    const Target& target,
    const ProblemSizes& sizes,
    int64_t cluster,
    bool is_shifted) {
  const ElementBytes bytes = bytes_of_element(summary, sizes.vectors);
  RowLayout row{.lanes = sizes.vectors.lanes, .cluster = cluster, .is_shifted = is_shifted};
  // Registers are what is scarce: inputs in 16 bits are kept as they are, and cast in each pass.
  const bool may_keep_inputs =
      bytes.streamed <= persistent::kept_bytes(summary) && !find_unrepeatable(summary);
  if (bytes.staged > 0) {
    row.keeps_inputs = may_keep_inputs;
    return find_layout(row, summary, target, sizes, kElements);
  }
  // Where elements are loaded one by one, each would be packed with the one before, and wait.
  for (const bool keeps_inputs : {false, true}) {
    std::optional<RowLayout> best;
    for (const int64_t elements : kElementsLoadedLate) {
      row.keeps_inputs = keeps_inputs;
      const std::optional<RowLayout> found = find_layout(row, summary, target, sizes, elements);
      if (found && (found->rows > 1 || found->blocks_of_sm >= kEnoughBlocks)) {
        return found;
      }
      best = best ? best : found;
    }
    if (best || !may_keep_inputs || cluster > 1) {
      return best;
    }
  }
  return std::nullopt;
}

/// The layout of rows that stay in the shared memory of clusters of so many blocks: each pass loads
/// what it needs of them, and of the columns that all rows share. So many blocks of different rows
/// have a multiprocessor: one computes while another waits.
/// No value: there is no room, rows are fewer than clusters, or no vectors arrive ahead of their
/// row: a kernel for rows and one for columns read vectors faster.
std::optional<RowLayout> find_row_in_shared_memory(
    const FusionSummary& summary,
    const Target& target,
    const ProblemSizes& sizes,
    int64_t cluster,
    int64_t blocks_of_sm) {
  const ElementBytes bytes = bytes_of_element(summary, sizes.vectors);
  RowLayout row{.lanes = sizes.vectors.lanes, .cluster = cluster, .is_in_shared_memory = true};
  const int64_t vectors = ceil_div(ceil_div(sizes.reduced, cluster), row.lanes);
  const int64_t most_warps = target.max_threads_per_block / (blocks_of_sm * kWarp);
  const bool waits_long = blocks_of_sm > 1 || cluster > Target::kPortableClusterSize;
  const int64_t wanted = row.lanes > 1 && waits_long ? kElementsOfWarp : kElements;
  row.warps = std::min(bucket_above(ceil_div(vectors * row.lanes, wanted * kWarp)), most_warps);
  row.batches = ceil_div(vectors, row.warps * row.threads);
  row.batches = sizes.is_of_one_length ? row.batches : bucket_above(row.batches);
  row.warps = ceil_div(ceil_div(vectors, row.batches), row.threads);
  row.warps = sizes.is_of_one_length ? row.warps : bucket_above(row.warps);
  const int64_t threads = row.warps * row.threads;
  const int64_t elements = row.batches * row.lanes; // of a thread
  const int64_t needed = elements * bytes.sums / kRegisterBytes + kRegistersBesideSums;
  row.registers = registers_of_thread(target, target.registers_per_sm, threads, blocks_of_sm);
  row.blocks = resident_clusters(target, blocks_of_sm, cluster);
  const bool has_turns = sizes.kept > row.blocks;
  const int64_t of_block =
      std::min(target.max_shared_bytes, target.shared_bytes_per_sm / blocks_of_sm);
  const int64_t room = of_block - target.reserved_shared_bytes - scratch_bytes(summary, row);
  const int64_t stage_bytes = threads * elements * bytes.streamed;
  const bool arrives_early = bytes.staged == bytes.streamed && has_turns;
  row.stages = arrives_early && kStages * stage_bytes <= room ? kStages : 1;
  const bool waits_for_vectors = row.lanes > 1 && row.stages == 1;
  if (needed > row.registers || row.stages * stage_bytes > room || sizes.kept < row.blocks ||
      waits_for_vectors || find_unrepeatable(summary)) {
    return std::nullopt;
  }
  return row;
}

/// Whether a layout leaves few multiprocessors idle, and those that wait for the other blocks of a
/// cluster something to do: a block with another row, or many warps. Two blocks wait little for
/// each other. One that has all of a row begins and ends later: it is for many rows.
bool keeps_busy(const RowLayout& row, const ProblemSizes& sizes) {
  if (row.cluster == 1) {
    return sizes.kept >= kManyTurns * row.blocks;
  }
  return row.cluster == 2 || row.blocks_of_sm >= kEnoughBlocks || row.warps >= kManyWarps;
}

/// The layout of rows that are shifted, in clusters of at most so many blocks. The rows of a block
/// all begin at the same place of a vector: their numbers differ by a multiple of its lanes, and so
/// many clusters there are. No value: too many multiprocessors would have no block, or no cluster
/// holds a row.
std::optional<RowLayout> find_shifted_row(
    const FusionSummary& summary,
    const Target& target,
    const ProblemSizes& shifted,
    int64_t most_blocks) {
  std::optional<RowLayout> waiting; // the first, if none is kept busy
  for (int64_t cluster = 1; cluster <= most_blocks; cluster *= 2) {
    auto row = find_row_of_cluster(summary, target, shifted, cluster, true);
    const int64_t in_step = row ? row->blocks / row->lanes * row->lanes : 0;
    if (!row || kWholeShare * in_step < kShareInStep * row->blocks) {
      continue;
    }
    row->blocks = in_step;
    if (keeps_busy(*row, shifted)) {
      return row;
    }
    waiting = waiting ? waiting : row;
  }
  return waiting;
}

/// Where the length of rows is known and batches do not divide it, their threads are a constant. In
/// a cluster the last block has fewer elements, so that all batches are tested in any case. Rows of
/// a warp took longer so.
void fix_threads(const RowLayout& row, const ProblemSizes& sizes, ReductionParams& params) {
  const int64_t vectors = ceil_div(sizes.reduced, row.lanes);
  const int64_t threads = row.warps * row.threads;
  if (!sizes.is_of_one_length || row.rows > 1 || row.cluster > 1 ||
      threads * row.batches == vectors) {
    return;
  }
  params.static_bdimx = true;
  params.batches_per_block_inner_reduction = ceil_div(vectors, threads);
}

/// How the parts of sums over rows are added up once all rows are done: the threads of a block
/// share those of some columns, or each has columns of its own. Where parts are few and rows long,
/// the former takes many rounds.
void choose_second_stage(const RowLayout& row, int64_t columns, ReductionParams& params) {
  const int64_t threads = row.warps * row.rows; // that may share the parts of a column
  const int64_t columns_of_turn = row.blocks * row.cluster * row.threads;
  const int64_t parts = ceil_div(row.blocks, threads); // of a column, for each thread
  const int64_t shared = ceil_div(columns, columns_of_turn) *
                         (kTimeOfLoads * ceil_div(parts, kLoads) + (threads > 1 ? 1 : 0));
  const int64_t own =
      ceil_div(columns, columns_of_turn * threads) * kTimeOfLoads * ceil_div(row.blocks, kLoads);
  const bool are_shared = threads > 1 && shared <= own;
  const int64_t loaded = are_shared ? parts : row.blocks;
  params.unroll_factor_outer_reduction = ceil_div(loaded, ceil_div(loaded, kLoads));
  params.block_dim_outer_reduction = are_shared ? ParallelType::TIDy : ParallelType::Serial;
}

} // namespace

bool is_of_columns(const TensorAccess& access, const ReductionProblem& problem) {
  const size_t rows = problem.kept.size();
  return !access.is_output && !access.is_lookup() && !access.has_any_axis(0, rows) &&
         access.has_any_axis(rows, rows + problem.reduced.size());
}

std::optional<RowLayout> find_row_layout(const FusionSummary& summary, const RunFacts& facts) {
  const Target& target = facts.target();
  const ProblemSizes sizes = sizes_of(*summary.problem(), facts);
  const int64_t most = std::min(target.max_cluster_size, Target::kPortableClusterSize);
  auto shifted = find_shifted_sizes(*summary.problem(), sizes, facts);
  const auto single = find_row_of_cluster(summary, target, sizes, 1, false);
  if (shifted && (!single || single->keeps_inputs)) {
    if (const auto row = find_shifted_row(summary, target, *shifted, most)) {
      return row;
    }
  }
  // Reductions over a cluster take longer than those of a block: no more blocks than it takes.
  for (int64_t cluster = 1; cluster <= most; cluster *= 2) {
    if (const auto row = find_row_of_cluster(summary, target, sizes, cluster, false)) {
      return row;
    }
  }
  // Vectors of half the lanes leave fewer multiprocessors idle.
  for (int64_t i = 0; shifted && i < 2; ++i, shifted = with_half_vectors(*shifted)) {
    if (const auto row = find_shifted_row(summary, target, *shifted, target.max_cluster_size)) {
      return row;
    }
  }
  // Twice as many blocks as it takes, two of each multiprocessor, wait less. Words in whole vectors
  // that only the largest clusters hold are read twice, by a kernel for rows and one for columns.
  const bool are_words = sizes.vectors.lanes > 1 && sizes.narrowest_bytes >= kRegisterBytes;
  const int64_t widest = are_words ? most : target.max_cluster_size;
  for (int64_t cluster = 2; cluster <= widest; cluster *= 2) {
    if (const auto row = find_row_in_shared_memory(summary, target, sizes, cluster, 1)) {
      const auto halves = cluster == most && 2 * cluster <= target.max_cluster_size
                              ? find_row_in_shared_memory(summary, target, sizes, 2 * cluster, 2)
                              : std::nullopt;
      return halves && halves->stages == row->stages ? halves : row;
    }
  }
  return std::nullopt;
}

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  auto params = std::make_unique<ReductionParams>(SchedulerType::inner_outer_persistent);
  params->persistent_kernel = true;
  params->fastest_dim = true;
  params->combined_inner_outer = true;
  params->grid_dim_iter_dom = ParallelType::BIDx;
  ProblemSizes sizes = sizes_of(*summary.problem(), facts);
  const RowLayout row = *find_row_layout(summary, facts);
  choose_second_stage(row, sizes.reduced, *params);
  if (row.is_shifted) {
    sizes = *find_shifted_sizes(*summary.problem(), sizes, facts);
    while (sizes.vectors.lanes > row.lanes) {
      sizes = with_half_vectors(sizes);
    }
  }
  params->shifts_rows = row.is_shifted;
  params->vector_widths = sizes.vectors.widths;
  for (int64_t& width : params->vector_widths) {
    width = std::min(width, row.lanes);
  }
  params->unroll_factor_inner_reduction = row.lanes;
  params->vectorize_inner_reduction = row.lanes > 1;
  params->batches_per_block_inner_reduction = row.batches;
  params->cross_block_inner_reduction = true;
  params->block_dim_inner_reduction = ParallelType::TIDx;
  params->block_dim_inner_reduction_extra = ParallelType::TIDy;
  params->blocks_per_reduction = row.blocks;
  params->project_persistent_buffers = row.keeps_inputs;
  params->keeps_rows_in_shared_memory = row.is_in_shared_memory;
  params->circular_buffer_stages = row.stages;
  params->vectorization_factor_tmp_gmem_write =
      std::min<int64_t>(row.lanes, facts.target().max_vector_bytes / kRegisterBytes);
  params->cparams.maxrregcount = row.registers;
  params->lparams.bind(ParallelType::TIDx, row.threads);
  params->lparams.bind(ParallelType::TIDy, row.warps * row.rows);
  if (row.rows > 1) {
    params->multiple_reds_per_blk = true;
    params->block_dim_iter_dom = ParallelType::TIDy;
    params->block_dim_inner_reduction_extra = ParallelType::Serial;
  }
  if (!row.is_shifted) { // a batch with the end of its row would have tests for many threads
    fix_threads(row, sizes, *params);
  }
  if (row.cluster > 1) {
    params->blocks_per_cluster = row.cluster;
    params->grid_dim_iter_dom = ParallelType::BIDy;
    params->grid_dim_inner_reduction = ParallelType::BIDx;
    params->lparams.bind(ParallelType::BIDx, row.cluster);
    params->lparams.bind(ParallelType::BIDy, row.blocks);
    params->lparams.set_cluster_size(row.cluster);
    return params;
  }
  params->lparams.bind(ParallelType::BIDx, row.blocks);
  return params;
}

} // namespace nvfuser::schedule::inner_outer
