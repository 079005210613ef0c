// Which expressions reduce, and how their reduced axes are run: what passes ask about a reduction.
#pragma once

#include "lower/analysis/loop_model.h"

namespace nvfuser {

/// Reductions of an expression: hardware indices its reduced axes are bound to.
struct ReductionShape {
  bool has_serial = false;
  std::vector<int64_t> thread_dims; // 0 x, 1 y, 2 z
  bool has_cluster = false;         // the blocks of a cluster
  std::vector<int64_t> grid_dims;   // others, which meet in global memory
  [[nodiscard]] bool is_parallel() const {
    return !thread_dims.empty() || has_cluster || !grid_dims.empty();
  }
};

[[nodiscard]] ReductionShape reduction_shape(const Kernel& kernel, const TensorView* out);

/// Processors compute Doubles about as fast as Floats; many GPUs are 64 times as slow.
[[nodiscard]] bool has_fast_doubles(const Kernel& kernel);

/// Whether `expr` combines elements (of one tensor, of several in step, or into a Welford triple).
[[nodiscard]] bool is_reduction_expr(const Expr* expr);

/// Whether registers outside of some of its loops hold what was combined so far.
[[nodiscard]] bool combines_over_loops(const Expr* expr);

/// Whether `loop` drives an axis that `tensor` reduces.
[[nodiscard]] bool is_reduced(const Kernel& kernel, const TensorView* tensor, const Loop* loop);

/// Whether one statement combines the lanes of grouped axes.
[[nodiscard]] bool combines_lanes(const Kernel& kernel, const Expr* expr);

/// The loops around the statement of `expr`: its nest without grouped axes, if one statement
/// combines all their lanes across threads, and without those that one instruction multiplies.
[[nodiscard]] LoopNest statement_nest(const Kernel& kernel, const Expr* expr);

} // namespace nvfuser
