#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Let a kernel wait for the grid before it, and tell the one behind it that it may begin, where
/// WaitForPriorGridOps and LaunchDependentGridOps ask for it.
///   before:  T4[..] = T1[..]   FOR .. T2[..] = T0[..]   T3[..] = T2[..]
///   after:   T4[..] = T1[..]   PRIORGRIDWAIT()   FOR .. T2[..] = T0[..]   T3[..] = T2[..]
///            DEPENDENTGRIDLAUNCH()
/// The wait stands in front of the first loop nest that touches global memory, but for those that
/// read only inputs of tensors which the schedule calls older than the prior grid. The signal
/// stands behind the nests of what it is for. With NVFUSER_ENABLE=dependent_launch, kernels that
/// ask for neither have both, one behind the other, unless their blocks wait for each other. On the
/// CPU target grids run one after the other, so that neither is there. Requires: all accesses to
/// global memory, and barriers (insert_syncs, serialize_blocks).
[[nodiscard]] std::optional<Refusal> order_grids(Kernel& kernel);

} // namespace nvfuser
