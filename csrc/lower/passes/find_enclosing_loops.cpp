#include "lower/passes/find_enclosing_loops.h"

#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/scalar.h"
#include "lower/analysis/launch_conditions.h"
#include "lower/analysis/loop_model.h"
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

} // namespace

void find_enclosing_loops(Kernel& kernel) {
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  for (Val* val : kernel.outputs()) {
    auto* output = static_cast<TensorView*>(val);
    if (output->is_fusion_input()) {
      continue;
    }
    for (const Loop* loop : kernel.loop_model->nest(output)) {
      const bool is_known = loop->extent()->is_const() && !loop->extent()->is_zero();
      if (!is_known && may_skip(kernel, exact, output, loop)) {
        kernel.launch.conditions.push_back(
            {.holds = scalar::logical_or(
                 scalar::lt(kernel.zero(), loop->extent()), is_empty(kernel, output)),
             .report =
                 {.headline = {"An output is stored in a loop that has no iteration"},
                  .node = {describe(output)},
                  .expected = {"at least one element along ", loop->extent()->to_inline_string()},
                  .found = {"none: it is inlined into a consumer without elements"},
                  .fix = {"do not inline it there, or evaluate the fusion for such sizes: "
                          "fd.execute does"}},
             .kind = ErrorKind::NotImplemented});
      }
    }
  }
}

} // namespace nvfuser
