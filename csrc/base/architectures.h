// Architectures of GPUs by their names, for kernels that are made without one.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

#include "base/target.h"

namespace nvfuser {

/// The compute capability that `sm_100a` names, 10 * major + minor; no value: it names none.
[[nodiscard]] inline std::optional<int64_t> compute_capability(std::string_view name) {
  constexpr std::string_view kReal = "sm_";
  if (!name.starts_with(kReal)) {
    return std::nullopt;
  }
  name.remove_prefix(kReal.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

/// The facts of such a GPU that follow from its compute capability; others are as Target has them.
[[nodiscard]] inline Target cuda_target_of(int64_t compute_capability) {
  constexpr int64_t kVolta = 70;
  constexpr int64_t kHopper = 90;
  Target target = Target::cuda();
  target.architecture = compute_capability;
  if (compute_capability < kVolta) {
    target.max_parameter_bytes = Target::kFewParameterBytes;
  }
  if (compute_capability < kHopper) {
    target.has_bulk_copies = false;
    target.max_cluster_size = 1;
  }
  return target;
}

} // namespace nvfuser
