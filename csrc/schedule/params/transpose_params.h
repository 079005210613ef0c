#pragma once

#include <vector>

#include "schedule/params/heuristic_params.h"

namespace nvfuser {

/// How tensors whose innermost dimensions differ are computed: tile by tile. Group 1 has the
/// innermost dimension of the reference, group 2 another one. A tile has elements of these two
/// dimensions, or, where they are too short for that, a part of each dimension.
struct TransposeChoice {
  static constexpr SchedulerType kType = SchedulerType::transpose;
  static constexpr const char* kTitle = "Transpose";

  int64_t tile_size1 = 32;
  int64_t tile_size2 = 32;
  int64_t vectorize_factor1 = 1;
  int64_t vectorize_factor2 = 1;
  bool runs_in_tasks = false;
  bool copies_rows = false;
  std::vector<int64_t> tile_parts = {};
  std::vector<int64_t> fixed_sizes = {};
  int64_t elements_ahead = 8;
  bool copies_past_registers = false;
  std::vector<int64_t> vector_widths = {};

  static constexpr auto fields() {
    using P = TransposeChoice;
    return std::tuple{
        attr("tile_size1", &P::tile_size1, "Elements of a tile along the dimension of group 1."),
        attr("tile_size2", &P::tile_size2, "Elements of a tile along the dimension of group 2."),
        attr(
            "vectorize_factor1", &P::vectorize_factor1,
            "Neighbouring elements that a thread computes, along the dimension of group 1."),
        attr(
            "vectorize_factor2", &P::vectorize_factor2,
            "Neighbouring elements of the rows that a tile is swizzled by: those of the widest "
            "access on either side."),
        attr(
            "runs_in_tasks", &P::runs_in_tasks,
            "Whether a tile is a task of a processor, computed in place."),
        attr(
            "copies_rows", &P::copies_rows,
            "Whether a task copies what a tile reads of group 2, row by row, before it computes."),
        attr(
            "tile_parts", &P::tile_parts,
            "Elements of a tile along each dimension of the reference, in the order of its memory; "
            "0: all. Empty: a tile has elements of two dimensions."),
        attr(
            "fixed_sizes", &P::fixed_sizes,
            "Sizes of dimensions that the kernel is made for, for each dimension of the reference, "
            "in the order of its memory; 0: any. Empty: all are any. Of tiles with `tile_parts`."),
        attr(
            "elements_ahead", &P::elements_ahead,
            "Elements of each side that a thread moves at a time, of tiles with `tile_parts`."),
        attr(
            "copies_past_registers", &P::copies_past_registers,
            "Whether operands are copied to shared memory past registers, where accesses have 4, 8 "
            "or 16 bytes: of tiles with `tile_parts`."),
        attr(
            "vector_widths", &P::vector_widths,
            "Elements of an access, for each tensor input that is read and then each output; "
            "empty: "
            "as wide as the layouts allow."),
    };
  }
  bool operator==(const TransposeChoice&) const = default;
};
using TransposeParams = ParamsOf<TransposeChoice>;

} // namespace nvfuser
