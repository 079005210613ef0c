// Targets by their names in Python.
#pragma once

#include <optional>
#include <string>

#include "base/architectures.h"
#include "base/errors.h"
#include "base/target.h"

namespace nvfuser::python {

/// The facts of the GPU that this compiler is tuned for, of one of an architecture, or of a
/// processor.
[[nodiscard]] inline Target target_by_name(const std::string& name) {
  if (name == "cuda") {
    return Target::cuda();
  }
  if (name == "cpu") {
    return Target::cpu();
  }
  if (const std::optional<int64_t> capability = compute_capability(name)) {
    return cuda_target_of(*capability);
  }
  throw UserError(
      {.headline = {"Unknown target"},
       .node = Part::none(),
       .expected = "\"cuda\", \"cpu\", or the architecture of a GPU, as \"sm_100a\"",
       .found = {"\"", name, "\""},
       .fix = "the target of a run follows from its inputs; name one only to look at a kernel"},
      ErrorKind::Value);
}

[[nodiscard]] inline std::optional<Target> target_by_name(const std::optional<std::string>& name) {
  return name ? std::optional(target_by_name(*name)) : std::nullopt;
}

} // namespace nvfuser::python
