#pragma once

#include "lower/statements.h"

namespace nvfuser {

/// Whether the threads of a reduction are the lanes of whole warps and nothing else is reduced.
[[nodiscard]] bool is_warp_reduction(
    const Kernel& kernel, const TensorView* out, const ReductionShape& shape);

/// Whether every thread of the block is sure to wait for all others in the reduction: lanes of one
/// warp meet without.
[[nodiscard]] bool always_waits(const Kernel& kernel, const BlockReduction& reduction);

[[nodiscard]] BlockReduction* make_block_reduction(
    Kernel& kernel,
    const ReductionOperands& operands,
    const std::vector<int64_t>& thread_dims,
    bool is_warp);

/// The same reduction into fresh registers; their allocation and initial values are appended to
/// `statements`.
[[nodiscard]] ReductionOperands through_registers(
    Kernel& kernel, const ReductionOperands& operands, std::vector<Expr*>& statements);

/// A reduction over blocks: decides whether all blocks need the result, and makes its workspaces
/// (`kernel.launch.buffers`).
GridReduction* make_grid_reduction(
    Kernel& kernel, Expr* expr, const ReductionShape& shape, const ReductionOperands& operands);

} // namespace nvfuser
