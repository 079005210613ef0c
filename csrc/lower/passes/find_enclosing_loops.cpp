#include "lower/passes/find_enclosing_loops.h"

#include <algorithm>

#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/scalar.h"
#include "lower/analysis/launch_conditions.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/memory_layout.h"
#include "lower/analysis/reductions.h"

namespace nvfuser {
namespace {

/// There is always a block; where there is no thread, shared memory has no room for what it reads.
/// A loop over an axis of the tensor is empty only if the tensor is. A reduction stores its initial
/// value outside of the loops over what it reduces.
bool may_skip(const Kernel& kernel, const ValGraph& exact, TensorView* output, const Loop* loop) {
  const auto is_own = [&](const IterDomain* axis) {
    return exact.are_mapped(axis, loop->promoted);
  };
  return !is_grid_dim(loop->parallel_type) && !loop->is_broadcast() &&
         !is_reduced(kernel, output, loop) && std::ranges::none_of(output->loop(), is_own);
}

/// Whether some reader stands outside of `loop`, which computes a broadcast anew in each iteration.
bool is_read_outside(const Kernel& kernel, const TensorView* tensor, const Loop* loop) {
  return std::ranges::any_of(tensor->consumers(), [&](const TensorView* consumer) {
    return std::ranges::find(kernel.loop_model->nest(consumer), loop) ==
           kernel.loop_model->nest(consumer).end();
  });
}

bool may_be_empty(const Loop* loop) {
  return !loop->extent()->is_const() || loop->extent()->is_zero();
}

/// A launch for which `loop` has no iteration is refused, unless the outputs are empty as well.
void add_condition(Kernel& kernel, const TensorView* tensor, const Loop* loop, Val* is_unused) {
  kernel.launch.conditions.push_back(
      {.holds = scalar::logical_or(scalar::lt(kernel.zero(), loop->extent()), is_unused),
       .report =
           {.headline =
                {tensor->is_fusion_output()
                     ? "An output is stored in a loop that has no iteration"
                     : "A tensor is computed in a loop that has no iteration"},
            .node = {describe(tensor)},
            .expected = {"at least one element along ", loop->extent()->to_inline_string()},
            .found = {"none: it is inlined into a consumer without elements"},
            .fix = {"do not inline it there, or evaluate the fusion for such sizes: "
                    "fd.execute does"}},
       .kind = ErrorKind::NotImplemented});
}

void find_loops_of_output(Kernel& kernel, const ValGraph& exact, TensorView* output) {
  for (const Loop* loop : kernel.loop_model->nest(output)) {
    if (may_be_empty(loop) && may_skip(kernel, exact, output, loop)) {
      add_condition(kernel, output, loop, is_empty(kernel, output));
    }
  }
}

/// A tensor that each iteration computes anew has no value where there is no iteration.
void find_loops_of_broadcast(Kernel& kernel, TensorView* tensor) {
  for (const IterDomain* axis : tensor->loop()) {
    const Loop* loop = kernel.loop_model->loop_of(axis);
    if (is_same_in_iterations(tensor, axis, *loop) && !is_grid_dim(loop->parallel_type) &&
        may_be_empty(loop) && is_read_outside(kernel, tensor, loop)) {
      add_condition(kernel, tensor, loop, is_empty(kernel, tensor));
    }
  }
}

} // namespace

void find_enclosing_loops(Kernel& kernel) {
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  for (Val* val : kernel.outputs()) {
    if (!val->is_fusion_input()) {
      find_loops_of_output(kernel, exact, static_cast<TensorView*>(val));
    }
  }
  for (TensorView* tensor : kernel.tensors()) {
    if (tensor->definition() != nullptr && !tensor->is_fusion_output()) {
      find_loops_of_broadcast(kernel, tensor);
    }
  }
}

} // namespace nvfuser
