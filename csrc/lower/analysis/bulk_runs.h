// Runs: bulk copies of neighbours in global memory. Their instructions take an address and a number
// of bytes, and read no description of the tensor.
//
//   x[M, N]   loops [M, N / 512, 512 tma]   a run of 512 elements, if 512 divides N
//
// The hardware tests nothing: a run beyond the tensor is left out as a whole, so that none may
// begin inside of the tensor and end outside of it. A run may be longer than a box.
#pragma once

#include "lower/analysis/tensor_maps.h"

namespace nvfuser {

/// Says no to a copy of runs that is none, and adds what launches must meet. `map`: how its boxes
/// lie in global memory.
[[nodiscard]] std::optional<Refusal> find_wrong_runs(
    Kernel& kernel, const TensorView* copy, const TensorMap& map);

/// Where a run begins: elements from the beginning of the tensor. `coordinates` are those of the
/// map's axes.
[[nodiscard]] Val* offset_of_run(
    Kernel& kernel, const TensorMap& map, const std::vector<Val*>& coordinates);

} // namespace nvfuser
