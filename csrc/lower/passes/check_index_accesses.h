#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Refuse what reads or writes at positions held by a tensor where it could leave memory or lose
/// elements.
///   A scatter overwrites a copy of its operand in global memory, where every thread may write:
///   its operand is computed there by the fusion and read by nothing else
///   (graph/storage.h).
/// Ensures: conditions on sizes are left for the launch: positions exist, dimensions that may be
///          smaller are, and expanded dimensions of inputs have the one element that is read
///          without a loop or a test of their size.
[[nodiscard]] std::optional<Refusal> check_index_accesses(Kernel& kernel);

} // namespace nvfuser
