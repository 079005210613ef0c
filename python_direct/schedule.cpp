// Scheduling: methods of TensorView and the submodule `schedule`.
#include "bindings.h"

namespace nvfuser::python {

void bind_schedule(nb::module_& m) {
  m.def_submodule("schedule", "Propagate transforms, inline, schedule automatically.");
}

} // namespace nvfuser::python
