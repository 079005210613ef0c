#pragma once

#include "lower/statements/statements.h"

namespace nvfuser {

/// Whether the threads of a reduction are the lanes of whole warps and nothing else is reduced.
[[nodiscard]] bool is_warp_reduction(
    const Kernel& kernel, const TensorView* out, const ReductionShape& shape);

[[nodiscard]] BlockReduction* make_block_reduction(
    Kernel& kernel,
    const ReductionOperands& operands,
    const std::vector<int64_t>& thread_dims,
    bool is_warp);

/// The same reduction into fresh registers; their allocation and initial values are appended to
/// `statements`.
[[nodiscard]] ReductionOperands through_registers(
    Kernel& kernel, const ReductionOperands& operands, std::vector<Expr*>& statements);

/// A reduction over blocks and its workspaces (`kernel.launch.buffers`). `allreduce`: all blocks
/// need the result.
GridReduction* make_grid_reduction(
    Kernel& kernel,
    Expr* expr,
    const ReductionShape& shape,
    const ReductionOperands& operands,
    bool allreduce);

} // namespace nvfuser
