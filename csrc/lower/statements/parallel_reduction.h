#pragma once

#include "lower/statements/statements.h"

namespace nvfuser {

/// Whether the threads of a reduction are the lanes of whole warps and nothing else is reduced.
[[nodiscard]] bool is_warp_reduction(
    const Kernel& kernel, const TensorView* out, const ReductionShape& shape);

/// Reductions over threads of a block. One triple at a time: several would take more shared memory
/// than their barriers are worth.
[[nodiscard]] std::vector<Expr*> make_block_reductions(
    Kernel& kernel,
    const ReductionOperands& operands,
    const std::vector<int64_t>& thread_dims,
    bool is_warp);

/// The same over threads (none: each keeps its value) and over the blocks of a cluster.
[[nodiscard]] std::vector<Expr*> make_cluster_reductions(
    Kernel& kernel, const ReductionOperands& operands, const std::vector<int64_t>& thread_dims);

/// The same reduction into fresh registers; their allocation and initial values are appended to
/// `statements`.
[[nodiscard]] ReductionOperands through_registers(
    Kernel& kernel, const ReductionOperands& operands, std::vector<Expr*>& statements);

/// Thread dimensions that are reduced, and those that no loop around the reduction is bound to: the
/// values of a block do not differ along them.
[[nodiscard]] std::vector<int64_t> uniform_thread_dims(
    const Kernel& kernel, const Expr* reduction, const ReductionShape& shape);

/// Whether blocks combine one after the other.
[[nodiscard]] bool takes_turns(const Expr* reduction);

/// A reduction over blocks and its workspaces (`kernel.launch.buffers`). `allreduce`: all blocks
/// need the result. If they do not, and do not take turns, the threads of the last block that hold
/// equal values have a share of the result each.
GridReduction* make_grid_reduction(
    Kernel& kernel,
    Expr* expr,
    const ReductionShape& shape,
    const ReductionOperands& operands,
    bool allreduce);

} // namespace nvfuser
