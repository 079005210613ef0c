#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Find what decides which code a launch needs, as expressions over the sizes, strides and scalars
/// of its inputs.
/// Requires: tensors, loops, circular loops and buffers are final.
/// Ensures:  `kernel.launch.code` and `.num_elements`. Every computed index lies between
///           `smallest_index` and `largest_index`: elements of tensors and of their storage, counts
///           of loops and of parts of splits, positions past the end that are loaded ahead, and
///           positions that the fusion computes.
void bound_indices(Kernel& kernel);

} // namespace nvfuser
