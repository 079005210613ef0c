#include "schedule/transpose/run_tiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/target.h"
#include "schedule/common/problem_sizes.h"

namespace nvfuser::schedule::transpose {
namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kFewestThreads = 160;
constexpr int64_t kMostThreads = 512;
constexpr int64_t kWarp = Target::cuda().warp_size;
constexpr int64_t kBanks = 32;
constexpr int64_t kBankBytes = 4;
constexpr int64_t kSectorBytes = 32;
constexpr int64_t kMostSharedBytes = 48 * 1024;
/// Numbers of threads, and parts of a dimension, that are compared.
constexpr size_t kMostThreadCounts = 10;
constexpr size_t kMostParts = 10;

/// Costs of an access in instructions of a thread: its own, and those of an index that is divided
/// by each size of a tile, or advanced.
constexpr double kAccess = 4;
constexpr double kDivided = 24;
constexpr double kAdvanced = 3;
/// Each further pass of a warp over the banks of shared memory costs so much.
constexpr double kBankConflict = 4;
/// Threads of a multiprocessor, as many of them as hide the latency of the memory, and the shared
/// memory that a few blocks have.
constexpr int64_t kThreadsOfSm = Target::cuda().max_threads_per_sm;
constexpr int64_t kBusyThreads = kThreadsOfSm / 4 * 3;
constexpr int64_t kSharedOfSm =
    Target::cuda().shared_bytes_per_sm - 4 * Target::cuda().reserved_shared_bytes;
/// Moving the bytes of an element costs so much, and more where sectors are moved in part.
constexpr double kMemory = 12;

/// An order in which a tile is walked.
struct RunWalk {
  const std::vector<size_t>& order; // of the dimensions, outermost first
  int64_t lanes = 1;                // elements of a thread side by side
};

/// Costs of one tile.
class RunCost {
 public:
  RunCost(const RunProblem& problem, const RunTile& tile)
      : problem_(problem), tile_(tile), lanes_(problem.lanes(tile.parts)) {
    elements_ =
        std::accumulate(tile.parts.begin(), tile.parts.end(), int64_t{1}, std::multiplies<>());
  }

  /// The cost of an element, in instructions of a thread.
  [[nodiscard]] double find() const {
    const RunWalk results{problem_.results, lanes_.results};
    double cost = cost_of(results, index_of_results(results));
    const RunWalk operands{problem_.operands, lanes_.operands};
    cost += cost_of(operands, index_of(operands));
    cost += kBankConflict * static_cast<double>(passes_over_banks() - 1);
    const auto idle = static_cast<double>(ceil_div(tile_.threads, kWarp) * kWarp) /
                      static_cast<double>(tile_.threads);
    return cost * idle * share_outside() * latency();
  }

 private:
  [[nodiscard]] double index_of(const RunWalk& walk) const {
    return advances(walk) ? kAdvanced : kDivided;
  }
  /// Elements of a vector are taken out of the tile one by one: each has an index of its own,
  /// unless all are of one row.
  [[nodiscard]] double index_of_results(const RunWalk& walk) const {
    const bool is_of_one_row = tile_.parts[walk.order.back()] % walk.lanes == 0;
    return index_of(walk) * static_cast<double>(is_of_one_row ? 1 : walk.lanes);
  }

  [[nodiscard]] double cost_of(const RunWalk& walk, double index) const {
    const int64_t steps = ceil_div(elements_, walk.lanes * tile_.threads);
    const double filled =
        static_cast<double>(steps * walk.lanes * tile_.threads) / static_cast<double>(elements_);
    const auto run = static_cast<double>(run_of(walk) * problem_.element_bytes);
    const double sectors = 1 + static_cast<double>(kSectorBytes) / run;
    return filled * (kAccess + index) / static_cast<double>(walk.lanes) + kMemory * sectors;
  }

  /// Whether each step adds to the position along one dimension alone.
  [[nodiscard]] bool advances(const RunWalk& walk) const {
    int64_t rest = tile_.threads * walk.lanes;
    for (auto axis = walk.order.rbegin(); axis != walk.order.rend() && rest > 1; ++axis) {
      const int64_t size = tile_.parts[*axis];
      if (rest % size != 0) {
        return size % rest == 0;
      }
      rest /= size;
    }
    return true;
  }

  /// Elements that lie side by side.
  [[nodiscard]] int64_t run_of(const RunWalk& walk) const {
    int64_t run = 1;
    for (auto axis = walk.order.rbegin(); axis != walk.order.rend(); ++axis) {
      run *= tile_.parts[*axis];
      if (tile_.parts[*axis] != problem_.sizes[*axis]) {
        break;
      }
    }
    return run;
  }

  /// How often a warp that stores reads one bank of the tile, which lies in the order of operands.
  [[nodiscard]] int64_t passes_over_banks() const {
    std::vector<int64_t> strides(tile_.parts.size());
    int64_t stride = 1;
    for (auto axis = problem_.operands.rbegin(); axis != problem_.operands.rend(); ++axis) {
      strides[*axis] = stride;
      stride *= tile_.parts[*axis];
    }
    std::array<std::set<int64_t>, kBanks> words;
    for (int64_t lane = 0; lane < kWarp; ++lane) {
      int64_t rest = lane * lanes_.results;
      int64_t at = 0;
      for (auto axis = problem_.results.rbegin(); axis != problem_.results.rend(); ++axis) {
        at += rest % tile_.parts[*axis] * strides[*axis];
        rest /= tile_.parts[*axis];
      }
      const int64_t word = at * problem_.element_bytes / kBankBytes;
      words[static_cast<size_t>(word % kBanks)].insert(word);
    }
    size_t most = 1;
    for (const std::set<int64_t>& bank : words) {
      most = std::max(most, bank.size());
    }
    return static_cast<int64_t>(most);
  }

  /// How much longer the memory takes where too few threads ask for elements.
  [[nodiscard]] double latency() const {
    const int64_t threads = ceil_div(tile_.threads, kWarp) * kWarp;
    const int64_t blocks = std::max<int64_t>(
        std::min(kThreadsOfSm / threads, kSharedOfSm / (elements_ * problem_.staged_bytes)), 1);
    return std::max(1.0, static_cast<double>(kBusyThreads) / static_cast<double>(blocks * threads));
  }

  /// Elements of all tiles, of those of the tensor.
  [[nodiscard]] double share_outside() const {
    double share = 1;
    for (size_t axis = 0; axis < tile_.parts.size(); ++axis) {
      const int64_t part = tile_.parts[axis];
      const int64_t size = problem_.sizes[axis];
      share *= static_cast<double>(ceil_div(size, part) * part) / static_cast<double>(size);
    }
    return share;
  }

  const RunProblem& problem_;
  const RunTile& tile_;
  RunLanes lanes_;
  int64_t elements_ = 1;
};

/// The innermost dimensions that a tile has all of, and the first other one.
struct Inner {
  int64_t elements = 1;        // of all of them together
  int64_t lanes = 1;           // of a vector
  std::vector<size_t> partial; // none or one

  /// The fewest accesses that cover a number of them.
  [[nodiscard]] int64_t accesses() const {
    return elements / std::gcd(elements, lanes);
  }
};

Inner inner_of(
    const RunProblem& problem,
    const std::vector<size_t>& order,
    int64_t lanes,
    const std::vector<int64_t>& parts) {
  Inner inner{.lanes = lanes, .partial = {}};
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    if (parts[*axis] != problem.sizes[*axis]) {
      inner.partial.push_back(*axis);
      break;
    }
    inner.elements *= parts[*axis];
  }
  return inner;
}

/// At most `most` of the numbers, evenly.
std::vector<int64_t> some_of(const std::vector<int64_t>& numbers, size_t most) {
  if (numbers.size() <= most) {
    return numbers;
  }
  std::vector<int64_t> some;
  for (size_t i = 0; i < most; ++i) {
    some.push_back(numbers[i * (numbers.size() - 1) / (most - 1)]);
  }
  return some;
}

std::vector<int64_t> thread_counts(int64_t results, int64_t operands) {
  std::vector<int64_t> counts;
  for (const int64_t step : {std::lcm(results, operands), results, operands}) {
    for (int64_t threads = ceil_div(kFewestThreads, step) * step; threads <= kMostThreads;
         threads += step) {
      counts.push_back(threads);
    }
    if (!counts.empty()) {
      break;
    }
  }
  counts = some_of(counts, kMostThreadCounts);
  counts.push_back(kThreads);
  return counts;
}

/// Parts about as large as `start` of which so many threads move all vectors in whole steps, or
/// several in one step.
std::vector<int64_t> parts_near(int64_t start, int64_t size, const Inner& inner, int64_t threads) {
  std::vector<int64_t> multiples;
  std::vector<int64_t> divisors;
  const int64_t most = std::min(size, 2 * start);
  for (int64_t part = std::max<int64_t>(start / 2, 1); part <= most; ++part) {
    if (part * inner.elements % inner.lanes != 0) {
      continue;
    }
    const int64_t accesses = part * inner.elements / inner.lanes;
    if (accesses % threads == 0) {
      multiples.push_back(part);
    } else if (threads % accesses == 0) {
      divisors.push_back(part);
    }
  }
  std::vector<int64_t> parts = some_of(multiples, kMostParts);
  for (const int64_t part : some_of(divisors, kMostParts)) {
    parts.push_back(part);
  }
  parts.push_back(start);
  return parts;
}

} // namespace

RunTile choose_run_tile(const RunProblem& problem, const std::vector<int64_t>& start) {
  const RunLanes lanes = problem.lanes(start);
  const Inner results = inner_of(problem, problem.results, lanes.results, start);
  const Inner operands = inner_of(problem, problem.operands, lanes.operands, start);
  RunTile best{.parts = start, .threads = kThreads};
  double least = std::numeric_limits<double>::infinity();
  const auto compare = [&](const RunTile& tile) {
    int64_t bytes = problem.staged_bytes;
    for (const int64_t part : tile.parts) {
      bytes *= part;
    }
    if (bytes > kMostSharedBytes) {
      return;
    }
    const double cost = RunCost(problem, tile).find();
    if (cost < least) {
      least = cost;
      best = tile;
    }
  };
  for (const int64_t threads : thread_counts(results.accesses(), operands.accesses())) {
    RunTile tile{.parts = start, .threads = threads};
    const auto with_parts = [&](const Inner& inner, const auto& next) {
      if (inner.partial.empty()) {
        next();
        return;
      }
      const size_t axis = inner.partial.front();
      const int64_t before = tile.parts[axis];
      for (const int64_t part : parts_near(start[axis], problem.sizes[axis], inner, threads)) {
        tile.parts[axis] = part;
        next();
      }
      tile.parts[axis] = before;
    };
    with_parts(results, [&] {
      if (operands.partial == results.partial) {
        compare(tile);
      } else {
        with_parts(operands, [&] { compare(tile); });
      }
    });
    if (operands.partial == results.partial) {
      with_parts(operands, [&] { compare(tile); });
    }
  }
  return best;
}

} // namespace nvfuser::schedule::transpose
