// Functions that the bindings of the executor cache share.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "host/executor_cache.h"

namespace nvfuser::python {

namespace nb = nanobind;

/// The runtime for these inputs; throws UserError where they were not executed.
[[nodiscard]] std::shared_ptr<const host::FusionRuntime> compiled_runtime(
    host::FusionExecutorCache& self, const nb::object& inputs);

/// explain, schedules, use_schedule.
void bind_segment_schedules(nb::module_& m, nb::class_<host::FusionExecutorCache>& cls);
/// add_shortcut, for a method that runs a fusion.
void bind_shortcut_method(nb::module_& m);

} // namespace nvfuser::python
