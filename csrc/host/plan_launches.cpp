#include "host/plan_launches.h"

#include <algorithm>

namespace nvfuser::host {

void plan_launches(ProgramPlan& plan) {
  for (const PlannedStep& step : plan.steps) {
    const auto* launch = std::get_if<PlannedLaunch>(&step);
    if (launch == nullptr) {
      plan.leaves_arguments = plan.leaves_arguments && std::holds_alternative<PlannedRelease>(step);
      continue;
    }
    plan.counter_bytes = std::max(plan.counter_bytes, launch->plan->counter_bytes);
    plan.kernel_workspace_bytes =
        std::max(plan.kernel_workspace_bytes, launch->plan->workspace_bytes);
    plan.leaves_arguments =
        plan.leaves_arguments &&
        std::ranges::none_of(launch->plan->buffers, [](const PlannedBuffer& buffer) {
          return buffer.source == BufferSource::Input;
        });
  }
}

} // namespace nvfuser::host
