// The submodule `idm`: which iteration domains correspond.
#include "bindings.h"

namespace nvfuser::python {

void bind_id_model(nb::module_& m) {
  m.def_submodule("idm", "Equivalence graphs over iteration domains.");
}

} // namespace nvfuser::python
