// Params of `pointwise`. Read with the numbers of a GPU in mind: a multiprocessor needs about 48 KB
// of loads in flight to reach full bandwidth, whatever the arithmetic.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "base/task_sizes.h"
#include "schedule/common/problem_sizes.h"
#include "schedule/common/vector_widths.h"
#include "schedule/params/pointwise_params.h"
#include "schedule/pointwise/pointwise.h"

namespace nvfuser::schedule::pointwise {
namespace {

constexpr int64_t kBitsPerByte = 8;
/// On a GPU: bytes that one thread should have asked for before it uses the first.
constexpr int64_t kBytesInFlight = 48;
/// Bytes of all operands that a thread has loaded at once: they take half of its registers. More
/// are spilled, and compilers take long to find out which.
constexpr int64_t kMostBytesLoaded = 512;
/// Bytes that a thread moves for each byte of operands that are the same for other rows.
constexpr int64_t kStreamedOfKept = 4;
/// The share of the second cache that such operands may fill: 1 / 4.
constexpr int64_t kShareKept = 4;
constexpr int64_t kThreads = 128;
/// Fewer idle threads than one of so many are no reason for blocks of another size.
constexpr int64_t kBusyOfIdle = 64;
constexpr int64_t kMostThreads = 256;
constexpr int64_t kMostUnroll = 8;
/// Elements of a thread where the arithmetic on one takes more than this many slots: their
/// intermediate values compete for registers.
constexpr double kHeavySlots = 16;
constexpr int64_t kHeavyElements = 32;

/// The problem, cut at a break point.
struct Sides {
  int64_t break_point = 0;
  int64_t left = 1; // elements of the outer side
  int64_t right = 1;
  /// Bits of operands that are broadcast over a whole side, for each element: what the cut saves.
  int64_t saved_bits = 0;
  VectorWidths vectors = {};
};

class Heuristics {
 public:
  Heuristics(const FusionSummary& summary, const RunFacts& facts)
      : summary_(summary), facts_(facts), target_(facts.target()) {
    for (const IterDomain* axis : summary.reference().reference->axes) {
      sizes_.push_back(facts.size(axis->extent()));
    }
  }

  [[nodiscard]] std::unique_ptr<PointwiseParams> compute() {
    auto params = std::make_unique<PointwiseParams>();
    const Sides sides = choose_sides();
    params->break_point = sides.break_point;
    target_.is_cuda() ? choose_for_gpu(sides, *params) : choose_for_processor(sides, *params);
    return params;
  }

 private:
  // ---- The break point --------------------------------------------------------------------------

  [[nodiscard]] Sides sides_at(size_t break_point) const {
    Sides sides{.break_point = static_cast<int64_t>(break_point)};
    const auto middle = sizes_.begin() + static_cast<std::ptrdiff_t>(break_point);
    sides.left = std::accumulate(sizes_.begin(), middle, int64_t{1}, std::multiplies<>());
    sides.right = std::accumulate(middle, sizes_.end(), int64_t{1}, std::multiplies<>());
    sides.vectors = choose_vector_widths(summary_.accesses(), sizes_.size() - break_point, facts_);
    for (const TensorAccess& access : summary_.accesses()) {
      if (!access.is_output && !access.is_lookup()) {
        sides.saved_bits += kept_sides(access, break_point) * size_bits(access.tensor->dtype());
      }
    }
    return sides;
  }

  /// Whether a tensor is broadcast over one side: 2 if it has all axes of the other one, 1 if it
  /// has some, and its position there is a remainder.
  [[nodiscard]] int64_t kept_sides(const TensorAccess& access, size_t break_point) const {
    const size_t rank = sizes_.size();
    const bool has_left = access.has_any_axis(0, break_point);
    const bool has_right = access.has_any_axis(break_point, rank);
    if (has_left == has_right) {
      return 0;
    }
    const bool has_all =
        has_left ? has_all_axes(access, 0, break_point) : has_all_axes(access, break_point, rank);
    return has_all ? 2 : 1;
  }

  [[nodiscard]] bool has_all_axes(const TensorAccess& access, size_t begin, size_t end) const {
    const IterDomains& axes = summary_.reference().reference->axes;
    for (size_t i = begin; i < end; ++i) {
      if (!access.has_axis[i] && !axes[i]->is_broadcast()) {
        return false;
      }
    }
    return true;
  }

  /// Two sides where operands are broadcast over one of them, if that costs no width of vectors.
  [[nodiscard]] Sides choose_sides() const {
    Sides best = sides_at(0);
    best.saved_bits = 0; // nothing is kept over rows if there are none
    const int64_t lanes = best.vectors.lanes;
    for (size_t cut = 1; cut < sizes_.size(); ++cut) {
      Sides sides = sides_at(cut);
      if (sides.left > 1 && sides.right > 1 && sides.vectors.lanes >= lanes &&
          sides.saved_bits > best.saved_bits) {
        best = std::move(sides);
      }
    }
    return best;
  }

  // ---- GPU --------------------------------------------------------------------------------------

  void choose_for_gpu(const Sides& sides, PointwiseParams& params) const {
    const int64_t elements = sides.left * sides.right;
    params.vectorization_factor = lanes_for(elements, sides.vectors.lanes);
    params.vector_widths = sides.vectors.widths;
    for (const LookupAccess& lookup : summary_.lookups()) {
      params.vector_widths.push_back(widest_access(lookup, facts_));
    }
    for (int64_t& width : params.vector_widths) {
      width = std::min(width, params.vectorization_factor);
    }
    const int64_t unroll = choose_unroll(sides, params.vectorization_factor);
    const int64_t vectors = ceil_div(sides.right, params.vectorization_factor);
    int64_t threads_x = has_loops() ? kThreads : 1;
    int64_t threads_y = 1;
    if (params.break_point > 0) {
      choose_block(vectors, sides.left, threads_x, threads_y);
      params.split_block = threads_y > 1;
      (is_outer_unrolled(sides, unroll, threads_y) ? params.unroll_factor_outer
                                                   : params.unroll_factor_inner) = unroll;
      if (keeps_much(sides)) {
        params.unroll_factor_outer =
            std::max(params.unroll_factor_outer, rows_for_kept(sides, params, threads_y));
      }
    } else {
      params.unroll_factor_inner = unroll;
    }
    params.lparams.bind(ParallelType::TIDx, threads_x);
    if (params.split_block) {
      params.lparams.bind(ParallelType::TIDy, threads_y);
    }
    // Nothing is launched for empty tensors, and one block stands for it.
    choose_grid(
        std::max<int64_t>(ceil_div(vectors, threads_x * params.unroll_factor_inner), 1),
        std::max<int64_t>(ceil_div(sides.left, threads_y * params.unroll_factor_outer), 1),
        keeps_much(sides), params);
  }

  /// Whether operands that are kept over rows are too large for the second cache to have them still
  /// when the next row comes.
  [[nodiscard]] bool keeps_much(const Sides& sides) const {
    return bits_kept(sides) * sides.right > target_.l2_bytes / kShareKept * kBitsPerByte;
  }

  /// Bits of one element of each operand that has all columns, and no rows.
  [[nodiscard]] int64_t bits_kept(const Sides& sides) const {
    const auto cut = static_cast<size_t>(sides.break_point);
    int64_t bits = 0;
    for (const TensorAccess& access : summary_.accesses()) {
      if (!access.is_output && !access.is_lookup() && kept_sides(access, cut) == 2 &&
          !access.has_any_axis(0, cut)) {
        bits += size_bits(access.tensor->dtype());
      }
    }
    return bits;
  }

  /// Rows of a thread, so that operands that are read again for other rows are a small part of what
  /// it moves.
  [[nodiscard]] int64_t rows_for_kept(
      const Sides& sides, const PointwiseParams& params, int64_t threads_y) const {
    int64_t streamed = 0; // bits of one element of each other operand and result
    for (const TensorAccess& access : summary_.accesses()) {
      const bool is_streamed = access.has_all_axes && !access.is_lookup();
      streamed += is_streamed ? size_bits(access.tensor->dtype()) : 0;
    }
    const int64_t lanes = params.vectorization_factor;
    const int64_t vectors = sides.left * sides.right / lanes;
    const auto is_possible = [&](int64_t rows) {
      return rows <= kMostUnroll && rows * threads_y <= sides.left &&
             vectors / rows >= target_.num_sms * target_.max_threads_per_sm &&
             rows * loaded_bits() * lanes <= kMostBytesLoaded * kBitsPerByte;
    };
    int64_t rows = 1;
    while (bits_kept(sides) * kStreamedOfKept > streamed * rows && is_possible(2 * rows)) {
      rows *= 2;
    }
    return rows;
  }

  /// A single element has no loop to bind; broadcasts are none.
  [[nodiscard]] bool has_loops() const {
    return std::ranges::any_of(summary_.reference().reference->axes, [](const IterDomain* axis) {
      return !axis->is_broadcast();
    });
  }

  /// Narrower vectors where wide ones would leave multiprocessors without threads, or where those
  /// of so many operands do not fit into registers.
  [[nodiscard]] int64_t lanes_for(int64_t elements, int64_t lanes) const {
    const int64_t bits = loaded_bits();
    while (lanes > least_lanes() && (elements / lanes < target_.num_sms * kThreads ||
                                     bits * lanes > kMostBytesLoaded * kBitsPerByte)) {
      lanes /= 2;
    }
    return lanes;
  }

  /// Bits of one element of each operand.
  [[nodiscard]] int64_t loaded_bits() const {
    int64_t bits = 0;
    for (const TensorAccess& access : summary_.accesses()) {
      bits += access.is_output || access.is_lookup() ? 0 : size_bits(access.tensor->dtype());
    }
    for (const LookupAccess& lookup : summary_.lookups()) {
      bits += size_bits(lookup.input->dtype());
    }
    return bits;
  }

  /// Elements of less than a byte are stored in pairs.
  [[nodiscard]] int64_t least_lanes() const {
    int64_t least = 1;
    for (const TensorAccess& access : summary_.accesses()) {
      least = std::max(least, kBitsPerByte / size_bits(access.tensor->dtype()));
    }
    return least;
  }

  /// Vectors of each streamed or looked up operand that a thread loads before it uses the first.
  [[nodiscard]] int64_t choose_unroll(const Sides& sides, int64_t lanes) const {
    int64_t bits = 0; // of one vector of each operand
    for (const TensorAccess& access : summary_.accesses()) {
      const bool is_streamed =
          access.has_any_axis(0, static_cast<size_t>(sides.break_point)) || sides.break_point == 0;
      if (!access.is_output && !access.is_lookup() && is_streamed && access.has_all_axes) {
        bits += size_bits(access.tensor->dtype()) * lanes;
      }
    }
    for (const LookupAccess& lookup : summary_.lookups()) {
      bits += size_bits(lookup.input->dtype()) * lanes;
    }
    const int64_t wanted =
        bits == 0 ? 2 : ceil_div(kBytesInFlight * kBitsPerByte, bits); // else: stores only
    int64_t unroll =
        std::min(kMostUnroll, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted))));
    if (summary_.cost().slots > kHeavySlots) {
      unroll = std::clamp<int64_t>(kHeavyElements / lanes, 1, unroll);
    }
    // All multiprocessors have threads before a thread has more to do.
    const int64_t vectors = sides.left * sides.right / lanes;
    while (unroll > 1 && vectors / unroll < target_.num_sms * target_.max_threads_per_sm) {
      unroll /= 2;
    }
    return unroll;
  }

  /// Rows are unrolled where operands are kept over them.
  [[nodiscard]] bool is_outer_unrolled(
      const Sides& sides, int64_t unroll, int64_t threads_y) const {
    return sides.left >= unroll * threads_y;
  }

  /// Threads for rows of so many vectors: whole rows if they are short, else a part of one that
  /// leaves few threads idle at its end.
  static void choose_block(int64_t vectors, int64_t rows, int64_t& x, int64_t& y) {
    constexpr int64_t kWarp = Target::cuda().warp_size;
    if (vectors > kThreads) {
      x = kThreads;
      for (int64_t candidate = kWarp * 2; candidate <= kMostThreads; candidate += kWarp) {
        const auto idle = [&](int64_t threads) {
          return ceil_div(vectors, threads) * threads - vectors;
        };
        const bool is_less = idle(candidate) * 10 < idle(x) * 9; // clearly
        if (is_less && idle(x) * kBusyOfIdle > vectors) {
          x = candidate;
        }
      }
      y = 1;
      return;
    }
    x = bucket_above(vectors);
    y = kThreads / x;
    for (int64_t candidate = y; candidate > y / 2 && y > 1; --candidate) {
      if (candidate * x % kWarp == 0) {
        y = candidate; // whole warps
        break;
      }
    }
    y = std::clamp<int64_t>(y, 1, power_of_two_above(rows));
  }

  /// Blocks of all rows follow each other where operands that are kept over rows would be gone from
  /// the cache before the next row comes.
  static void choose_grid(int64_t inner, int64_t outer, bool keeps_much, PointwiseParams& params) {
    constexpr int64_t kMostY = LaunchParams::kMaxGridYZ;
    if (params.break_point == 0) {
      params.lparams.bind(ParallelType::BIDx, inner);
      return;
    }
    params.flip_grid_binding = inner == 1 || (outer > kMostY && inner <= kMostY) || keeps_much;
    const int64_t on_y = params.flip_grid_binding ? inner : outer;
    params.split_grid_y_dim = on_y > kMostY;
    params.lparams.bind(ParallelType::BIDx, params.flip_grid_binding ? outer : inner);
    params.lparams.bind(ParallelType::BIDy, std::min(on_y, kMostY));
    if (params.split_grid_y_dim) {
      params.lparams.bind(ParallelType::BIDz, ceil_div(on_y, kMostY));
    }
  }

  // ---- Processors -------------------------------------------------------------------------------

  void choose_for_processor(const Sides& sides, PointwiseParams& params) const {
    int64_t widest = 4; // bytes; narrower types are computed as float
    int64_t narrowest = kLaneBytes;
    for (const TensorAccess& access : summary_.accesses()) {
      const int64_t bytes = size_bytes(access.tensor->dtype());
      widest = std::max(widest, bytes);
      narrowest = std::min(narrowest, bytes);
    }
    params.runs_in_tasks = true;
    params.vectorization_factor =
        has_loops() ? lanes_of_step(widest, std::min(narrowest, widest)) : 1;
    const int64_t vectors = ceil_div(sides.right, params.vectorization_factor);
    const int64_t of_task = std::max<int64_t>(kTaskElements / params.vectorization_factor, 1);
    // Powers of two: sizes that differ little share a kernel.
    params.unroll_factor_inner = std::min(power_of_two_above(vectors), of_task);
    params.unroll_factor_outer = std::clamp<int64_t>(
        of_task / params.unroll_factor_inner, 1, power_of_two_above(sides.left));
    params.lparams.bind(
        ParallelType::BIDx, std::max<int64_t>(
                                ceil_div(vectors, params.unroll_factor_inner) *
                                    ceil_div(sides.left, params.unroll_factor_outer),
                                1));
  }

  const FusionSummary& summary_;
  const RunFacts& facts_;
  const Target& target_;
  std::vector<int64_t> sizes_; // of the axes of the reference
};

} // namespace

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  return Heuristics(summary, facts).compute();
}

} // namespace nvfuser::schedule::pointwise
