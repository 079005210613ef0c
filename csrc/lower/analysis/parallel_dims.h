#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Find the launched extent of every hardware index and give every loop its index value.
/// Requires: the loop model.
/// Ensures:  `kernel.launch.extents` and `.code.bound_extents`; `Loop::index` of every loop;
///           LoopModel::is_exact. An index is exact if every axis bound to it has the launched
///           extent; else axes are oversubscribed and their statements need a test. A grid with
///           clusters consists of whole ones.
/// Refuses clusters that the target has not.
std::optional<Refusal> find_parallel_dims(Kernel& kernel);

/// Size of a launched dimension while generating code: the constant if it is one, else `blockDim.x`
/// or `gridDim.x`; 1 if the index is not used.
[[nodiscard]] Val* launched_extent(Kernel& kernel, ParallelType type);

} // namespace nvfuser
