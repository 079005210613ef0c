#include "ir/find_undefined.h"

#include "ir/fusion.h"

namespace nvfuser {

std::optional<Refusal> find_undefined_tensor(const Fusion& fusion) {
  for (const TensorView* tensor : fusion.tensors()) {
    if (tensor->definition() == nullptr && !tensor->is_fusion_input()) {
      return refuse(
          {.headline = "Outputs depend on a tensor that is neither an input nor computed",
           .node = describe(tensor),
           .expected = "an input of the fusion, or the result of an expression",
           .found = "a tensor without a definition",
           .fix = "add it to the inputs (fusion.add_input), or compute it"});
    }
  }
  return std::nullopt;
}

} // namespace nvfuser
