#include "lower/analysis/launch_conditions.h"

#include "ir/scalar.h"

namespace nvfuser {

LaunchCondition size_condition(Val* holds, const Part& headline, const Part& node) {
  return {
      .holds = holds,
      .report = {
          .headline = headline,
          .node = node,
          .expected = {holds->to_inline_string()},
          .found = Part::none(),
          .fix = {"check the shapes of the inputs"}}};
}

Val* is_empty(Kernel& kernel, const TensorView* output) {
  Val* result = kernel.false_val();
  for (const IterDomain* axis : TensorDomain::no_reductions(output->logical())) {
    result = scalar::logical_or(result, scalar::eq(axis->maybe_expanded_extent(), kernel.zero()));
  }
  return result;
}

Val* is_empty(Kernel& kernel) {
  Val* result = kernel.true_val();
  for (const Val* output : kernel.outputs()) {
    if (!output->is_fusion_input()) {
      result =
          scalar::logical_and(result, is_empty(kernel, static_cast<const TensorView*>(output)));
    }
  }
  return result;
}

} // namespace nvfuser
