// Running a launch plan: pointers and scalars in, outputs made, kernel launched.
#pragma once

#include <span>
#include <vector>

#include "runtime/kernel_timer.h"
#include "runtime/launch_plan.h"

namespace nvfuser {

/// Output i of a run. Exactly one of: a new tensor; the argument `input` itself; the same tensor as
/// the earlier output `same_as`.
struct RunOutput {
  static constexpr int64_t kNone = -1;
  DlpackHandle tensor;
  int64_t input = kNone;
  int64_t same_as = kNone;
};

/// Run `plan` with arguments of its signature, on the caller's current stream. `timer`, if given,
/// measures the kernel.
[[nodiscard]] std::vector<RunOutput> launch(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    OutputAllocator& allocator,
    KernelTimer* timer = nullptr);

} // namespace nvfuser
