#pragma once

#include <vector>

#include "schedule/params/heuristic_params.h"

namespace nvfuser {

/// How scans, and maps around them, are computed: the axes that are not scanned merged to [K], the
/// scanned one [S] inside.
///   S innermost in memory    [K/y, ty, S/(tx I), tx, I]
///   another axis innermost   [K/(tx L), tx, S/(ty I), ty, I, L]
///   on processors            [K/(R L), R, S, L]: a task scans R rows, L of them together
/// Scatters take turns: all that leads to one is there before it begins.
struct GreedyChoice {
  static constexpr SchedulerType kType = SchedulerType::greedy;
  static constexpr const char* kTitle = "Greedy";

  bool scans_innermost_axis = false;
  bool scans_over_threads = false;
  int64_t scan_items = 1;
  int64_t kept_lanes = 1;
  int64_t rows_of_task = 1;
  bool runs_in_tasks = false;
  int64_t scatter_blocks = 1;
  std::vector<int64_t> vector_widths = {};

  static constexpr auto fields() {
    using P = GreedyChoice;
    return std::tuple{
        attr(
            "scans_innermost_axis", &P::scans_innermost_axis,
            "Whether neighbours along the scanned axis are neighbours in memory: block_x runs "
            "along "
            "it, otherwise along the other axes."),
        attr(
            "scans_over_threads", &P::scans_over_threads,
            "Whether the threads of a block scan together; otherwise each runs through the axis."),
        attr(
            "scan_items", &P::scan_items,
            "Neighbours along the scanned axis that a thread combines by itself."),
        attr(
            "kept_lanes", &P::kept_lanes,
            "Neighbours along the other axes that a thread scans side by side."),
        attr("rows_of_task", &P::rows_of_task, "Scans that a task of a processor does in turn."),
        attr(
            "runs_in_tasks", &P::runs_in_tasks,
            "Whether a block is a task of a processor: no threads."),
        attr(
            "scatter_blocks", &P::scatter_blocks,
            "Blocks of a fusion with scatters; they wait for each other, so all have to be "
            "resident at once."),
        attr(
            "vector_widths", &P::vector_widths,
            "Elements of an access, for each tensor input that is read and then each output; "
            "empty: elements one by one."),
    };
  }
  bool operator==(const GreedyChoice&) const = default;
};
using GreedyParams = ParamsOf<GreedyChoice>;

} // namespace nvfuser
