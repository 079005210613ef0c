#pragma once

#include <vector>

#include "schedule/params/heuristic_params.h"

namespace nvfuser {

/// How a map over the axes of a reference tensor is computed: its axes in the order of its memory,
/// those left of the break point merged to [L], the others to [R].
///   on a GPU       [L/y/ty/Uo, R/(tx V Ui), Uo, Ui, ty, tx, V]
///   on processors  [L/Uo * R/(V Ui), Uo, Ui, V]: a task computes Uo x Ui vectors
struct PointwiseChoice {
  static constexpr SchedulerType kType = SchedulerType::pointwise;
  static constexpr const char* kTitle = "Pointwise";

  int64_t break_point = 0;
  bool split_block = false;
  bool split_grid_y_dim = false;
  bool flip_grid_binding = false;
  int64_t vectorization_factor = 1;
  int64_t unroll_factor_inner = 1;
  int64_t unroll_factor_outer = 1;
  bool runs_in_tasks = false;
  std::vector<int64_t> vector_widths = {};

  static constexpr auto fields() {
    using P = PointwiseChoice;
    return std::tuple{
        attr(
            "break_point", &P::break_point,
            "Axes left of it form the outer side of a 2-D schedule; 0: one side has all."),
        attr("split_block", &P::split_block, "Whether threads are split over both sides."),
        attr(
            "split_grid_y_dim", &P::split_grid_y_dim,
            "Whether the side on grid_y has more blocks than that takes, and is split."),
        attr(
            "flip_grid_binding", &P::flip_grid_binding,
            "Whether the outer side is bound to grid_x and the inner one to grid_y."),
        attr(
            "vectorization_factor", &P::vectorization_factor,
            "Neighbouring elements that a thread computes; a tensor is accessed in vectors of at "
            "most so many."),
        attr(
            "unroll_factor_inner", &P::unroll_factor_inner,
            "Vectors of a thread along the inner side, all loaded before the first is used."),
        attr(
            "unroll_factor_outer", &P::unroll_factor_outer,
            "Rows of a thread; operands that are broadcast over them are loaded once."),
        attr(
            "runs_in_tasks", &P::runs_in_tasks,
            "Whether a block is a task of a processor: no threads, unroll factors are the lengths "
            "of loops."),
        attr(
            "vector_widths", &P::vector_widths,
            "Elements of an access, for each tensor input that is read, then each output, then "
            "each "
            "slice, pad and gather of an input; empty: as wide as the layouts allow."),
    };
  }
  bool operator==(const PointwiseChoice&) const = default;

  [[nodiscard]] static std::string body_of(const ParamsOf<PointwiseChoice>& params);
};
using PointwiseParams = ParamsOf<PointwiseChoice>;

} // namespace nvfuser
