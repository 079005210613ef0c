#include "lower/analysis/reductions.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/matrix_copies.h"
#include "lower/analysis/mma.h"
#include "lower/analysis/tcgen05.h"

namespace nvfuser {

ReductionShape reduction_shape(const Kernel& kernel, const TensorView* out) {
  ReductionShape shape;
  for (int64_t i = 0; i < out->ndims(); ++i) {
    if (!out->axis(i)->is_reduction()) {
      continue;
    }
    const Loop* loop = kernel.loop_model->loop_of(out->axis(i));
    if (loop->index->is_const()) {
      continue; // runs once
    }
    if (is_block_dim(loop->parallel_type)) {
      shape.thread_dims.push_back(traits_of(loop->parallel_type).dim);
    } else if (is_clustered(*loop)) {
      shape.has_cluster = cluster_size(kernel) > 1;
    } else if (is_grid_dim(loop->parallel_type)) {
      shape.grid_dims.push_back(traits_of(loop->parallel_type).dim);
    } else {
      shape.has_serial = true;
    }
  }
  std::sort(shape.thread_dims.begin(), shape.thread_dims.end());
  std::sort(shape.grid_dims.begin(), shape.grid_dims.end());
  return shape;
}

bool has_fast_doubles(const Kernel& kernel) {
  return !kernel.target().is_cuda();
}

bool is_reduction_expr(const Expr* expr) {
  return expr != nullptr && semantics_of(*expr).read == OperandRead::Reduced;
}

bool combines_over_loops(const Expr* expr) {
  return is_reduction_expr(expr) ||
         (expr != nullptr && semantics_of(*expr).read == OperandRead::Scanned);
}

bool is_reduced(const Kernel& kernel, const TensorView* tensor, const Loop* loop) {
  const IterDomains& axes = tensor->loop();
  return std::any_of(axes.begin(), axes.end(), [&](const IterDomain* axis) {
    return axis->is_reduction() && kernel.loop_model->loop_of(axis) == loop;
  });
}

bool combines_lanes(const Kernel& kernel, const Expr* expr) {
  return is_reduction_expr(expr) && reduction_shape(kernel, first_output(expr)).is_parallel();
}

LoopNest statement_nest(const Kernel& kernel, const Expr* expr) {
  LoopNest nest = kernel.loop_model->nest(first_output(expr));
  const bool is_of_lanes = is_mma_instruction(kernel, expr) ||
                           is_matrix_instruction(kernel, expr) ||
                           is_tensor_memory_instruction(kernel, expr);
  const ParallelType left_out = is_of_lanes ? ParallelType::Mma : ParallelType::Group;
  if (combines_lanes(kernel, expr) || left_out == ParallelType::Mma) {
    std::erase_if(nest, [&](const Loop* loop) { return loop->parallel_type == left_out; });
  }
  return nest;
}

} // namespace nvfuser
