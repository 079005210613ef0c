#include <algorithm>
#include <bit>

#include "base/task_sizes.h"
#include "schedule/common/problem_sizes.h"
#include "schedule/common/vector_widths.h"
#include "schedule/greedy/greedy.h"
#include "schedule/params/greedy_params.h"

namespace nvfuser::schedule::greedy {
namespace {

constexpr int64_t kThreads = 128;
constexpr int64_t kMostScanThreads = 128; // more wait for each other in each round
/// A thread that scans alone reads one element of each row after the other: so many rows of
/// threads share an axis if the other axes do not fill the GPU.
constexpr int64_t kScanRows = 16;
/// Blocks of each multiprocessor that are resident at once, of 256 threads and few registers.
constexpr int64_t kResidentBlocks = 4;
constexpr int64_t kScatterTasks = 64;

int64_t power_of_two_from(int64_t size) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(size, 1))));
}

class ScanHeuristics {
 public:
  ScanHeuristics(const FusionSummary& summary, const RunFacts& facts)
      : summary_(summary), facts_(facts), axis_(scanned_axis(summary)) {
    const IterDomains& axes = summary.reference().reference->axes;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i]->is_broadcast()) {
        continue;
      }
      const int64_t size = facts.size(axes[i]->extent());
      innermost_ = i;
      (i == axis_ ? scanned_ : kept_) *= size;
    }
  }

  void choose(GreedyParams& params) const {
    params.scans_innermost_axis = innermost_ == axis_;
    if (!facts_.target().is_cuda()) {
      choose_tasks(params);
    } else if (params.scans_innermost_axis) {
      choose_rows(params);
    } else {
      choose_columns(params);
    }
  }

 private:
  /// Broadcasts make no loop that threads could be bound to.
  [[nodiscard]] bool has_kept_axes() const {
    return kept_ > 1;
  }

  /// Elements of vectors along the innermost axis: those of the widest access.
  int64_t choose_widths(GreedyParams& params) const {
    int64_t lanes = 1;
    for (const TensorAccess& access : summary_.accesses()) {
      const bool runs_along = access.lane_axis == innermost_;
      params.vector_widths.push_back(
          runs_along ? widest_access(access, access.lane_run, facts_) : 1);
      lanes = std::max(lanes, params.vector_widths.back());
    }
    return lanes;
  }

  /// The threads of a block scan a row, or a few short ones.
  void choose_rows(GreedyParams& params) const {
    params.scan_items = choose_widths(params);
    const int64_t wanted = power_of_two_from(ceil_div(scanned_, params.scan_items));
    const int64_t threads = std::min(wanted, kMostScanThreads);
    const int64_t rows = has_kept_axes() ? std::max<int64_t>(kThreads / threads, 1) : 1;
    params.scans_over_threads = threads > 1;
    params.lparams.bind(ParallelType::TIDx, threads);
    params.lparams.bind(ParallelType::TIDy, rows);
    params.lparams.bind(ParallelType::BIDx, std::max<int64_t>(ceil_div(kept_, rows), 1));
  }

  /// Threads along the innermost axis, each of which runs through the scanned one; several for it
  /// if that leaves multiprocessors idle.
  void choose_columns(GreedyParams& params) const {
    const int64_t wanted = facts_.target().num_sms * kThreads * 2;
    int64_t lanes = choose_widths(params);
    while (lanes > 1 && kept_ / lanes < wanted) {
      lanes /= 2;
    }
    int64_t rows = 1;
    if (lanes == 1) {
      while (rows < kScanRows && kept_ * rows < wanted && rows * 4 <= scanned_) {
        rows *= 2;
      }
    }
    params.kept_lanes = lanes;
    for (int64_t& width : params.vector_widths) {
      width = std::min(width, lanes);
    }
    const int64_t of_warps = rows > 1 ? facts_.target().warp_size : kThreads; // along memory
    const int64_t columns = has_kept_axes() ? of_warps : 1;
    params.scans_over_threads = rows > 1;
    params.scan_items = rows > 1 ? 4 : 1;
    params.lparams.bind(ParallelType::TIDx, columns);
    params.lparams.bind(ParallelType::TIDy, rows);
    params.lparams.bind(ParallelType::BIDx, std::max<int64_t>(ceil_div(kept_, columns * lanes), 1));
  }

  void choose_tasks(GreedyParams& params) const {
    params.runs_in_tasks = true;
    if (!params.scans_innermost_axis) {
      int64_t widest = 4; // bytes; narrower types are computed as float
      for (const TensorAccess& access : summary_.accesses()) {
        widest = std::max(widest, size_bytes(access.tensor->dtype()));
      }
      params.kept_lanes = std::min(kLaneBytes / widest, power_of_two_from(kept_));
    }
    const int64_t scans = ceil_div(kept_, params.kept_lanes);
    const int64_t of_one = std::max<int64_t>(scanned_ * params.kept_lanes, 1);
    params.rows_of_task = std::clamp<int64_t>(kTaskElements / of_one, 1, power_of_two_from(scans));
    params.lparams.bind(
        ParallelType::BIDx, std::max<int64_t>(ceil_div(scans, params.rows_of_task), 1));
  }

  const FusionSummary& summary_;
  const RunFacts& facts_;
  size_t axis_;
  size_t innermost_ = 0; // axis of the reference with more than one element
  int64_t kept_ = 1;
  int64_t scanned_ = 1;
};

} // namespace

std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  auto params = std::make_unique<GreedyParams>();
  if (has_scatter(summary)) {
    params->runs_in_tasks = !facts.target().is_cuda();
    params->scatter_blocks =
        params->runs_in_tasks ? kScatterTasks : facts.target().num_sms * kResidentBlocks;
  } else {
    ScanHeuristics(summary, facts).choose(*params);
  }
  return params;
}

} // namespace nvfuser::schedule::greedy
