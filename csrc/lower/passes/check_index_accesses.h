#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Refuse what reads or writes at positions held by a tensor where it could leave memory or lose
/// elements.
///   A scatter overwrites a copy of its operand in global memory, where every thread may write:
///   its operand is computed there by the fusion and read by nothing else
///   (graph/scatter_storage.h).
/// Ensures: conditions on sizes are left for the launch (`kernel.launch.size_checks`): positions
///          exist, and dimensions that may be smaller are. Expanded dimensions of inputs whose one
///          element is read without a loop or a test of their size are left in
///          `kernel.launch.expanded_reads`.
void check_index_accesses(Kernel& kernel);

} // namespace nvfuser
