#pragma once

#include "bindings.h"

namespace nvfuser::python {

void bind_tensor_cores(nb::module_& m); // after bind_heuristic_params

} // namespace nvfuser::python
