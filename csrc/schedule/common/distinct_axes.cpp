#include "schedule/common/distinct_axes.h"

#include "graph/ambiguous_axes.h"
#include "graph/id_model.h"
#include "graph/twisted_axes.h"

namespace nvfuser::schedule {

std::optional<Refusal> find_indistinct_axes(const Fusion& fusion, const ValGraph& exact) {
  AmbiguousAxisSearch search(exact);
  for (TensorView* tensor : fusion.tensors()) {
    if (tensor->definition() == nullptr) {
      continue;
    }
    if (const std::optional<SelfMapping> found = find_self_mapping(exact, tensor)) {
      return refuse(
          {
              .headline = {"No single kernel computes a tensor together with its own transpose"},
              .node = {describe(tensor)},
              .expected = {"axes that can be told apart"},
              .found =
                  {found->first->to_string(), " and ", found->second->to_string(),
                   ", which expressions of the fusion map to each other"},
              .fix = {"evaluate the fusion, or pass the tensor as two inputs"},
          },
          ErrorKind::NotImplemented);
    }
    if (const std::optional<AmbiguousAxis> ambiguous = search.find(tensor)) {
      return refuse(
          {
              .headline = {"No single kernel computes a tensor together with its own reshape"},
              .node = {describe(tensor)},
              .expected = {"axes of which none follows from others"},
              .found =
                  {ambiguous->axis->to_string(), ", which follows from ",
                   ambiguous->first->to_string(), " and from ", ambiguous->second->to_string()},
              .fix = {"evaluate the fusion, or pass the tensor as two inputs"},
          },
          ErrorKind::NotImplemented);
    }
  }
  if (const std::optional<TwistedAxis> twisted = find_twisted_axis(exact)) {
    return refuse(
        {
            .headline = {"No single kernel computes a tensor together with its own reshape"},
            .node = describe(tensor_with(twisted->axis, fusion.tensors())),
            .expected = {"axes that are one part of another one"},
            .found =
                {twisted->axis->to_string(), ", which is two different parts of ",
                 twisted->whole->to_string()},
            .fix = {"evaluate the fusion, or pass the tensor as two inputs"},
        },
        ErrorKind::NotImplemented);
  }
  return std::nullopt;
}

} // namespace nvfuser::schedule
