// Params of `reduction`. On a GPU what counts is loads in flight; on a processor, vectors as
// accumulators and reads in the order of memory.
#include <algorithm>
#include <bit>
#include <optional>
#include <ranges>

#include "base/register_file.h"
#include "base/task_sizes.h"
#include "schedule/common/fixed_sizes.h"
#include "schedule/common/moments.h"
#include "schedule/common/problem_sizes.h"
#include "schedule/common/short_rows.h"
#include "schedule/params/reduction_params.h"
#include "schedule/reduction/reduction.h"

namespace nvfuser::schedule::reduction {
namespace {

// -- of a GPU --
constexpr int64_t kThreads = 256;
/// Memory is fetched in sectors of this size.
constexpr int64_t kSectorBytes = 32;
constexpr int64_t kWarp = Target::cuda().warp_size;
/// Vectors that a thread loads before it uses the first.
constexpr int64_t kLoads = 8;
/// Bytes of a row that one warp reads.
constexpr int64_t kRowOfWarp = 8 * 1024;
/// Rows of so few elements, which no vectors divide, share a warp: one shuffle combines several.
constexpr int64_t kShortRow = 64;
constexpr int64_t kThreadsOfShortRow = 8;
/// Blocks of a multiprocessor where a reduction is split over blocks, at most.
constexpr int64_t kBlocksOfSmInner = 8;
constexpr int64_t kBlocksOfSmOuter = 2; // at least
/// Rounds of loads of a thread that are worth its indices and its part in a block's sums.
constexpr int64_t kRounds = 4;
/// Sizes of innermost axes that a kernel is made for, multiplied.
constexpr int64_t kFixedElements = 256;
/// Registers of a thread that computes indices, and loads and sums single elements.
constexpr int64_t kFewRegisters = 40;
/// Those beside loaded vectors of a thread whose lanes share their sums.
constexpr int64_t kRegistersBesideLoads = 16;

// -- of a processor --
/// Tasks that are enough for any number of cores.
constexpr int64_t kTasks = 64;
/// Steps of an accumulator over one part of a result: two sums of at most some dozens in turn.
constexpr int64_t kMostSteps = 1024;
/// Parts of a result, at most: 2^36 elements of it still have short sums.
constexpr int64_t kMostParts = int64_t{1} << 26;
/// Neighbouring columns of a task: as many accumulators, in the first cache.
constexpr int64_t kColumns = 1024;
/// Neighbouring rows that a task sums together: as many streams of memory. A prefetcher follows
/// each one to the end of its page only.
constexpr int64_t kRowsTogether = 4;
/// Rows of neighbouring columns that a task sums together: they share a load and a store of
/// accumulators that registers do not hold.
constexpr int64_t kRowsOfColumns = 8;
/// Vectors of accumulators that registers hold beside what is loaded.
constexpr int64_t kMostAccumulators = 16;

class Heuristics {
 public:
  Heuristics(const FusionSummary& summary, const RunFacts& facts)
      : summary_(summary),
        problem_(*summary.problem()),
        facts_(facts),
        target_(facts.target()),
        sizes_(sizes_of(problem_, facts)) {}

  [[nodiscard]] std::unique_ptr<ReductionParams> compute() {
    auto params = std::make_unique<ReductionParams>();
    params->fastest_dim = problem_.is_inner;
    params->grid_dim_iter_dom = ParallelType::BIDx;
    if (target_.is_cuda()) {
      params->vector_widths = sizes_.vectors.widths;
      params->cross_block_inner_reduction = true;
      params->fixed_sizes = find_fixed_sizes();
      problem_.is_inner ? choose_inner_for_gpu(*params) : choose_outer_for_gpu(*params);
    } else {
      params->runs_in_tasks = true; // loads are vectors of whole steps: compilers see them
      problem_.is_inner ? choose_inner_for_processor(*params) : choose_outer_for_processor(*params);
    }
    return params;
  }

 private:
  // ---- GPU --------------------------------------------------------------------------------------

  void choose_inner_for_gpu(ReductionParams& params) const {
    const int64_t lanes = sizes_.vectors.lanes;
    const int64_t vectors = std::max<int64_t>(ceil_div(sizes_.reduced, lanes), 1);
    const int64_t row_bytes = sizes_.reduced * sizes_.widest_bytes;
    int64_t threads = row_bytes <= kRowOfWarp ? std::min(power_of_two_above(vectors), kWarp)
                                              : std::min(power_of_two_above(vectors), kThreads);
    if (sizes_.kept < target_.num_sms && vectors > kWarp) {
      threads = std::min(power_of_two_above(vectors), kThreads); // a block for each of few rows
    }
    if (lanes == 1 && vectors <= kShortRow && sizes_.kept >= target_.num_sms * kWarp) {
      threads = std::min(threads, kThreadsOfShortRow);
    }
    int64_t rows = std::clamp<int64_t>(
        kThreads / 2 / threads, 1, power_of_two_above(std::max<int64_t>(sizes_.kept, 1)));
    const Neighbours near = find_neighbours();
    if (near.reduced * sizes_.narrowest_bytes < kSectorBytes && near.kept > 1) {
      // Beside the few neighbours that one result sums lie those of other results: threads of these
      // results are neighbours, so that together they use all of a sector.
      threads = std::min(power_of_two_above(ceil_div(near.reduced, lanes)), kWarp);
      rows = std::min(near.kept, kThreads / threads);
      threads = std::min(power_of_two_below(kThreads / rows), power_of_two_above(vectors));
    }
    const int64_t steps = ceil_div(vectors, threads);
    const int64_t unroll = loads_of_thread(steps);

    params.unroll_factor_inner_reduction = lanes;
    params.vectorize_inner_reduction = lanes > 1;
    params.unroll_factor_top_of_vectorization = unroll;
    params.block_dim_inner_reduction = ParallelType::TIDx;
    params.lparams.bind(ParallelType::TIDx, threads);
    if (rows > 1) {
      params.multiple_reds_per_blk = true;
      params.block_dim_iter_dom = ParallelType::TIDy;
      params.lparams.bind(ParallelType::TIDy, rows);
    }
    choose_grid(rows, steps / unroll, resident_blocks(threads * rows, unroll * lanes), params);
  }

  /// The axes in the order of memory, outermost first.
  [[nodiscard]] const IterDomains& axes() const {
    return std::ranges::find(summary_.reductions(), problem_.reference, &ReductionFacts::out)->axes;
  }

  /// Whether axes that are merged have others between them in memory, so that their index is
  /// divided for each element.
  [[nodiscard]] bool are_apart() const {
    int64_t changes = 0;
    std::optional<bool> was_reduced;
    for (const IterDomain* axis : axes()) {
      changes += was_reduced && *was_reduced != axis->is_reduction() ? 1 : 0;
      was_reduced = axis->is_reduction();
    }
    return changes > 1;
  }

  /// Numbers by which indices are divided where axes are innermost and short. For each of
  /// `axes_of_problem`; empty: none. An axis of one element stays one: as a number, 1 would make a
  /// broadcast of it.
  [[nodiscard]] std::vector<int64_t> find_fixed_sizes() const {
    if (!are_apart()) {
      return {};
    }
    const IterDomains all = axes_of_problem(problem_);
    std::vector<int64_t> sizes(all.size(), 0);
    int64_t elements = 1;
    for (const IterDomain* axis : axes() | std::views::reverse) {
      const int64_t size = facts_.size(axis->extent());
      elements *= size;
      if (size > 1 && elements <= kFixedElements && may_be_fixed(axis)) {
        sizes[static_cast<size_t>(std::ranges::find(all, axis) - all.begin())] = size;
      }
    }
    return sizes;
  }

  /// Elements that lie together in memory: of one result, and then results side by side.
  struct Neighbours {
    int64_t reduced = 1;
    int64_t kept = 1;
  };

  [[nodiscard]] Neighbours find_neighbours() const {
    Neighbours near;
    for (const IterDomain* axis : axes() | std::views::reverse) {
      const int64_t size = facts_.size(axis->extent());
      if (size != 1 && axis->is_reduction() && near.kept > 1) {
        break;
      }
      (axis->is_reduction() ? near.reduced : near.kept) *= size;
    }
    return near;
  }

  /// Blocks of a multiprocessor that are there at once, by the vectors that threads have loaded:
  /// where blocks have equal shares, others would begin when these end, too few for the memory.
  [[nodiscard]] int64_t resident_blocks(int64_t threads, int64_t elements_of_thread) const {
    const int64_t registers =
        ceil_div(elements_of_thread * bytes_of_streams(), kRegisterBytes) + kRegistersBesideLoads;
    return std::clamp<int64_t>(
        target_.registers_per_sm / (threads * registers), 1, kBlocksOfSmInner);
  }

  void choose_outer_for_gpu(ReductionParams& params) const {
    const int64_t lanes = sizes_.vectors.lanes;
    const int64_t vectors = std::max<int64_t>(ceil_div(sizes_.kept, lanes), 1);
    const int64_t narrow = std::min(power_of_two_above(vectors), kWarp);
    const int64_t columns = std::max(narrow, columns_of_short_sums(vectors));
    const int64_t rows = std::min(kThreads / columns, power_of_two_above(sizes_.reduced));
    const int64_t steps = std::max<int64_t>(ceil_div(sizes_.reduced, rows), 1);
    // A thread that has few steps has them all at once, and tests none of them.
    const int64_t unroll = std::min(loads_of_thread(steps), steps);

    params.unroll_factor_iter_dom = lanes;
    params.vectorize_iter_dom = lanes > 1;
    params.unroll_factor_inner_reduction = unroll;
    params.block_dim_iter_dom = ParallelType::TIDx;
    params.block_dim_inner_reduction = ParallelType::TIDy;
    params.lparams.bind(ParallelType::TIDx, columns);
    params.lparams.bind(ParallelType::TIDy, rows);
    const int64_t threads = columns * rows;
    const int64_t resident = blocks_with_loads(threads, unroll * lanes);
    choose_grid(columns * lanes, steps / unroll, resident, params);
    if (params.cross_grid_inner_reduction && !waits_for_others()) {
      params.cparams.maxrregcount =
          registers_of_thread(target_, target_.registers_per_sm, threads, resident);
    }
  }

  /// Columns of a block whose threads have `kRounds` of loads each; fewer where so many columns
  /// would leave too few blocks for the GPU.
  [[nodiscard]] int64_t columns_of_short_sums(int64_t vectors) const {
    const int64_t rows = power_of_two_above(ceil_div(sizes_.reduced, kRounds * kLoads));
    const int64_t blocks = target_.num_sms * kBlocksOfSmInner;
    return std::min(kThreads / std::min(rows, kThreads), power_of_two_below(vectors / blocks));
  }

  /// Blocks of a multiprocessor whose loads together take the latency of the memory: more of them
  /// where vectors are narrow, and as many as leave a thread the registers it needs.
  [[nodiscard]] int64_t blocks_with_loads(int64_t threads, int64_t elements_of_thread) const {
    const int64_t bytes = std::max<int64_t>(threads * elements_of_thread * bytes_of_streams(), 1);
    const int64_t most = target_.registers_per_sm / (threads * kFewRegisters);
    return std::clamp(
        ceil_div(static_cast<int64_t>(kFullFlight), bytes), kBlocksOfSmOuter,
        std::max(most, kBlocksOfSmOuter));
  }

  /// Bytes of one element of each input that is streamed.
  [[nodiscard]] int64_t bytes_of_streams() const {
    int64_t bytes = 0;
    for (const TensorAccess& access : problem_.accesses) {
      if (!access.is_output && !access.is_lookup() && access.has_all_axes) {
        bytes += size_bytes(access.tensor->dtype());
      }
    }
    return bytes;
  }

  /// Vectors of each streamed input, of `steps`: all of them if they are few.
  [[nodiscard]] int64_t loads_of_thread(int64_t steps) const {
    const int64_t loads = power_of_two_below(kLoads / std::max<int64_t>(sizes_.streams, 1));
    return std::min(loads, power_of_two_above(steps));
  }

  /// Blocks for results of which one has `results`; several for each where these are too few for
  /// the GPU, as long as each has some of the `rounds` of a block.
  void choose_grid(
      int64_t results, int64_t rounds, int64_t blocks_of_sm, ReductionParams& params) const {
    const int64_t blocks = std::max<int64_t>(ceil_div(sizes_.kept, results), 1);
    params.lparams.bind(ParallelType::BIDx, blocks);
    const int64_t wanted = target_.num_sms * (waits_for_others() ? 1 : blocks_of_sm);
    const int64_t shares =
        std::min({wanted / blocks, rounds, blocks < target_.num_sms * 2 ? wanted : int64_t{1}});
    if (shares < 2) {
      return;
    }
    params.cross_grid_inner_reduction = true;
    params.grid_dim_inner_reduction = ParallelType::BIDy;
    params.blocks_per_reduction = shares == wanted ? wanted : bucket_below(shares);
    params.lparams.bind(ParallelType::BIDy, params.blocks_per_reduction);
  }

  /// Whether blocks may wait for the results of others, so that all of them have to be resident.
  /// Sums and extremes are one reduction over blocks; each Welford is another one.
  [[nodiscard]] bool waits_for_others() const {
    const size_t moments = find_moments(summary_).size();
    size_t welfords = 0;
    for (const ReductionFacts& reduction : summary_.reductions()) {
      welfords += reduction.expr->outputs().size() > 1 ? 1 : 0;
    }
    const size_t others = summary_.reductions().size() - welfords - 2 * moments;
    return welfords + moments + (others > 0 ? 1 : 0) > 1;
  }

  // ---- Processors -------------------------------------------------------------------------------

  void choose_inner_for_processor(ReductionParams& params) const {
    if (const std::optional<ShortRows> groups = find_short_rows(sizes_)) {
      choose_short_rows(*groups, sizes_, params);
      return;
    }
    const int64_t lanes = std::min(
        lanes_of_step(sizes_.widest_bytes, sizes_.narrowest_bytes),
        power_of_two_above(sizes_.reduced));
    const int64_t vectors = std::max<int64_t>(ceil_div(sizes_.reduced, lanes), 1);
    const int64_t rows = rows_together(lanes);
    params.unroll_factor_iter_dom = rows;
    params.unroll_factor_inner_reduction = lanes;
    params.unroll_factor_top_of_vectorization =
        std::min(std::max<int64_t>(kLaneAccumulators / rows, 1), power_of_two_below(vectors));
    params.iterations_per_task = std::clamp<int64_t>(
        kTaskElements / (rows * std::max<int64_t>(sizes_.reduced, 1)), 1,
        std::max<int64_t>(sizes_.kept / rows, 1));
    choose_tasks(
        rows * params.iterations_per_task, lanes * params.unroll_factor_top_of_vectorization,
        params);
  }

  /// No more than a task has anyway, and than have accumulators in registers.
  [[nodiscard]] int64_t rows_together(int64_t lanes) const {
    int64_t accumulators = 0; // of a row
    for (const ReductionFacts& reduction : summary_.reductions()) {
      for (const Val* out : reduction.expr->outputs()) {
        const int64_t bytes = std::max<int64_t>(size_bytes(out->dtype()), sizeof(float));
        accumulators += std::max<int64_t>(lanes * bytes / kLaneBytes, 1);
      }
    }
    const int64_t most = std::min(
        {kRowsTogether, kMostAccumulators / std::max<int64_t>(accumulators, 1),
         kTaskElements / std::max<int64_t>(sizes_.reduced, 1), sizes_.kept});
    return power_of_two_below(std::max<int64_t>(most, 1));
  }

  /// As wide as accumulators have room: prefetchers follow a row to the end of its page.
  void choose_outer_for_processor(ReductionParams& params) const {
    int64_t columns = std::min(kColumns, power_of_two_above(sizes_.kept));
    while (columns > 1 && columns * bytes_of_column() > target_.max_local_bytes) {
      columns /= 2;
    }
    params.unroll_factor_iter_dom = columns;
    if (columns * static_cast<int64_t>(sizeof(float)) > kMostAccumulators * kLaneBytes) {
      params.unroll_factor_inner_reduction = power_of_two_below(
          std::min(kRowsOfColumns / std::max<int64_t>(sizes_.streams, 1), sizes_.reduced));
    }
    choose_tasks(columns, 1, params);
  }

  /// Each reduction has accumulators of chains, and sums of those; a Welford has shifted sums as
  /// well, for no more than 64 columns, and all of it is counted as Doubles.
  [[nodiscard]] int64_t bytes_of_column() const {
    constexpr int64_t kOwnArrays = 2;
    constexpr int64_t kArraysOfWelford = 7; // for each of its three outputs
    const auto bytes_of = [](DataType dtype, size_t least) {
      return std::max<int64_t>(size_bytes(dtype), static_cast<int64_t>(least));
    };
    int64_t bytes = 0;
    for (const TensorAccess& access : problem_.accesses) {
      bytes += bytes_of(access.tensor->dtype(), sizeof(float)) *
               static_cast<int64_t>(access.elementwise_uses.size());
    }
    for (const ReductionFacts& reduction : summary_.reductions()) {
      const bool is_welford = reduction.expr->outputs().size() > 1;
      for (const Val* out : reduction.expr->outputs()) {
        bytes += is_welford ? kArraysOfWelford * bytes_of(out->dtype(), sizeof(double))
                            : kOwnArrays * bytes_of(out->dtype(), sizeof(float));
      }
    }
    return bytes;
  }

  [[nodiscard]] int64_t tasks_of(int64_t results) const {
    return std::max<int64_t>(ceil_div(sizes_.kept, results), 1);
  }

  /// Parts of each result that give all cores work, and keep its sums short. `results`: of a task.
  /// `accumulators`: values into which it adds one result.
  [[nodiscard]] int64_t wanted_parts(int64_t results, int64_t accumulators) const {
    const int64_t fair = std::min(
        kTasks / tasks_of(results),
        sizes_.reduced * std::min(results, sizes_.kept) / kTaskElements);
    return std::max(fair, sizes_.reduced / accumulators / kMostSteps);
  }

  void choose_tasks(int64_t results, int64_t accumulators, ReductionParams& params) const {
    params.lparams.bind(ParallelType::BIDx, tasks_of(results));
    const int64_t shares = std::min(wanted_parts(results, accumulators), kMostParts);
    if (shares < 2) {
      return;
    }
    params.cross_grid_inner_reduction = true;
    params.grid_dim_inner_reduction = ParallelType::BIDy;
    params.blocks_per_reduction = power_of_two_below(shares);
    params.lparams.bind(ParallelType::BIDy, params.blocks_per_reduction);
  }

  const FusionSummary& summary_;
  const ReductionProblem& problem_;
  const RunFacts& facts_;
  const Target& target_;
  ProblemSizes sizes_;
};

} // namespace

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  return Heuristics(summary, facts).compute();
}

} // namespace nvfuser::schedule::reduction
