#include "host/plan_addresses.h"

#include <algorithm>

namespace nvfuser::host {
namespace {

/// The launch has nothing to write but addresses, and no rule to check but alignments.
bool differs_in_addresses(const LaunchPlan& plan) {
  return plan.tensor_maps.empty() && plan.random_offsets.empty() && !plan.dumps_arguments &&
         std::ranges::all_of(
             plan.patches,
             [](const ParameterPatch& patch) {
               return std::holds_alternative<PointerPatch>(patch.value);
             }) &&
         std::ranges::none_of(plan.buffers, [](const PlannedBuffer& buffer) {
           return buffer.source == BufferSource::Input;
         });
}

LaunchAddresses addresses_of(const PlannedLaunch& launch) {
  LaunchAddresses result;
  const LaunchPlan& plan = *launch.plan;
  for (const ParameterPatch& patch : plan.patches) {
    const size_t arg = std::get<PointerPatch>(patch.value).arg;
    result.slots.push_back({launch.first_parameter + patch.offset, launch.inputs[arg]});
  }
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlannedBuffer& buffer = plan.buffers[i];
    const size_t offset = launch.first_parameter + buffer.offset;
    if (buffer.source == BufferSource::NewTensor) {
      result.slots.push_back({offset, launch.tensors[i]});
    } else {
      result.workspaces.push_back({offset, buffer.byte_offset, buffer.zero_init});
    }
  }
  for (const AlignmentCheck& check : plan.alignment_checks) {
    result.alignments.push_back({launch.inputs[check.arg], check.bytes});
  }
  return result;
}

/// A tensor that is an output whole, and that no other output sees a part of. Evaluations share
/// what they read.
void find_handed_over(ProgramPlan& plan) {
  const auto slot = [&](Slot number) -> SlotPlan& {
    return plan.slots[static_cast<size_t>(number)];
  };
  for (const Slot output : plan.outputs) {
    const Slot owner = slot(output).owner;
    if (owner != kNoSlot && slot(owner).memory == SlotMemory::NewTensor) {
      slot(owner).is_handed_over =
          !plan.has_evaluations && std::ranges::all_of(plan.outputs, [&](Slot other) {
            return slot(other).owner != owner || slot(other).same_as == owner;
          });
    }
  }
}

} // namespace

void plan_addresses(ProgramPlan& plan) {
  for (PlannedStep& step : plan.steps) {
    auto* launch = std::get_if<PlannedLaunch>(&step);
    if (launch != nullptr && differs_in_addresses(*launch->plan)) {
      launch->addresses = addresses_of(*launch);
    }
  }
  plan.has_evaluations = std::ranges::any_of(plan.steps, [](const PlannedStep& step) {
    return std::holds_alternative<PlannedEvaluation>(step);
  });
  find_handed_over(plan);
}

} // namespace nvfuser::host
