// Loops that begin elsewhere in each block: `TensorView::resize` by widths that depend on the index
// of the block. A row of a tensor whose rows are no multiple of a vector begins in the middle of
// one; shifted by as many positions, its loop begins where the vector does.
//
//   rows of 13 elements, vectors of 8    block 1: row 1 begins at element 13 = 8 + 5
//   resized by 5 and 24 - 13 - 5         position p stands for element p - 5 of the row
//
// All threads of a block agree on the shift: what one of them leaves in shared memory, or adds to a
// sum of the block, is of the position that the others take it for.
#pragma once

#include <vector>

#include "ir/domain_exprs.h"

namespace nvfuser {

/// The hardware indices that a scalar depends on, each once.
[[nodiscard]] std::vector<ParallelType> hardware_indices_in(const Val* scalar);

/// Whether a resize shifts its axis by a width that depends on hardware indices. Only schedules
/// have such: the definition's slices and pads are alike for all blocks.
[[nodiscard]] bool is_shift(const Resize& resize);

} // namespace nvfuser
