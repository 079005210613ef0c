// Operations that say when grids of one stream begin.
#include "op_binding.h"
#include "ops/grid_order.h"

namespace nvfuser::python {

void bind_grid_order_ops(OpModule& m) {
  m.def(
      "wait_for_prior_grid", &ops::wait_for_prior_grid, "inputs"_a,
      R"(Let the kernel begin while the grid before it in the stream still runs, and wait for it.

The kernel waits before it touches global memory, but for loads that the older tensors are computed
from. On GPUs before compute capability 9.0, and on the CPU target, grids run one after the other.

Parameters
----------
inputs : list[TensorView]
    First the tensor that is copied, which the prior grid may have written. Then tensors that are
    older than that grid, by what the caller knows: they may be loaded before the wait.

Returns
-------
TensorView
    A copy of the first tensor.

Raises
------
UserError
    If the list is empty.
)");
  m.def(
      "launch_dependent_grid", &ops::launch_dependent_grid, "inputs"_a,
      R"(Let a grid that waits for this one begin when all blocks have come here.

That grid still sees all that this kernel writes, also later, since it waits for the kernel's end.

Parameters
----------
inputs : list[TensorView]
    First the tensor that is copied; all are computed, and the copy as well, before the signal.

Returns
-------
TensorView
    A copy of the first tensor.

Raises
------
UserError
    If the list is empty.
)");
}

} // namespace nvfuser::python
