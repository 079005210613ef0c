#include "schedule/summary/reference.h"

#include <algorithm>

#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

/// A tensor with an axis that `reference` does not have; nullptr: there is none.
const TensorView* find_uncovered(
    const ValGraph& exact, const TensorView* reference, const std::vector<TensorView*>& tensors) {
  const AxisClasses covered = sources_of(exact, reference->logical());
  for (const TensorView* tensor : tensors) {
    for (const IterDomain* axis : concrete_axes(tensor)) {
      if (!covered.contains(exact.group(axis))) {
        return tensor;
      }
    }
  }
  return nullptr;
}

} // namespace

ReferenceSearch find_reference(
    const ValGraph& exact,
    const std::vector<TensorView*>& outputs,
    const std::vector<TensorView*>& tensors) {
  std::vector<TensorView*> candidates(outputs);
  std::ranges::stable_sort(candidates, [](const TensorView* a, const TensorView* b) {
    return concrete_axes(a).size() > concrete_axes(b).size();
  });
  const TensorView* uncovered = nullptr;
  for (TensorView* candidate : candidates) {
    const TensorView* lacking = find_uncovered(exact, candidate, tensors);
    if (lacking == nullptr) {
      return {
          .reference = Reference{.tensor = candidate, .axes = axes_in_memory_order(candidate)},
          .refusal = std::nullopt};
    }
    uncovered = uncovered == nullptr ? lacking : uncovered;
  }
  if (candidates.empty()) {
    return {
        .reference = std::nullopt,
        .refusal = refuse(
            {.headline = "cannot find reference tensor",
             .node = "the fusion",
             .expected = "an output that is computed",
             .found = "only inputs among the outputs",
             .fix = "such outputs need no kernel"})};
  }
  return {
      .reference = std::nullopt,
      .refusal = refuse(
          {.headline = "cannot find reference tensor",
           .node = describe(uncovered),
           .expected = "an output that has the axes of every tensor, or reshapes of them",
           .found = {candidates.front()->to_string(), " lacks an axis of ", uncovered->to_string()},
           .fix = "cut the fusion between tensors of different shapes"})};
}

} // namespace nvfuser::schedule
