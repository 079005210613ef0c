// Devices as Python passes them.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "base/device.h"

namespace nvfuser::python {

/// None, or anything `torch.device` takes: a device, "cuda:0", an index.
[[nodiscard]] std::optional<Device> device_from_python(const nanobind::object& value);

} // namespace nvfuser::python
