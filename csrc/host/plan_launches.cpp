#include "host/plan_launches.h"

#include <algorithm>
#include <utility>

#include "runtime/launch_graphs.h"

namespace nvfuser::host {
namespace {

/// A run that may fail with arguments half written has all of its memory before. Others make their
/// tensors while the GPU works already, but take the lock of the caller's language again for it: a
/// single tensor takes hardly longer.
bool allocates_first(const ProgramPlan& plan) {
  const auto is_new = [&](const SlotPlan& slot) {
    const auto number = static_cast<Slot>(&slot - plan.slots.data());
    return slot.memory == SlotMemory::NewTensor && slot.owner == number;
  };
  return !plan.leaves_arguments || std::ranges::count_if(plan.slots, is_new) == 1;
}

/// The kernels as graphs, if there are no other steps. The plan of a single launch has its own.
std::shared_ptr<LaunchGraphs> graphs_of(const ProgramPlan& plan) {
  std::vector<ChainLink> links;
  for (const PlannedStep& step : plan.steps) {
    const auto* launch = std::get_if<PlannedLaunch>(&step);
    if (launch == nullptr ? !std::holds_alternative<PlannedRelease>(step)
                          : plan.single_launch != nullptr) {
      return nullptr;
    }
    if (launch != nullptr && !launch->plan->is_empty) {
      links.push_back({launch->plan.get(), launch->first_parameter, launch->first_address});
    }
  }
  return LaunchGraphs::of(std::move(links));
}

} // namespace

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
  plan.allocates_first = allocates_first(plan);
  plan.graphs = graphs_of(plan);
}

} // namespace nvfuser::host
