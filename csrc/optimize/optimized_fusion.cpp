#include "optimize/optimized_fusion.h"

#include <algorithm>
#include <numeric>

#include "base/value_or_throw.h"
#include "optimize/pipeline.h"
#include "optimize/rewrite.h"

namespace nvfuser {

std::variant<std::shared_ptr<OptimizedFusion>, Refusal> OptimizedFusion::try_optimize(
    const Fusion& fusion, const OptimizeOptions& options) {
  if (std::optional<Refusal> refusal = optimize::find_unfit(fusion)) {
    return *std::move(refusal);
  }
  std::shared_ptr<OptimizedFusion> result(new OptimizedFusion());
  result->copy_from(fusion);
  result->arguments_.resize(fusion.inputs().size());
  std::iota(result->arguments_.begin(), result->arguments_.end(), 0);
  optimize::run_passes(*result, options);
  return result;
}

std::shared_ptr<OptimizedFusion> OptimizedFusion::optimize(
    const Fusion& fusion, const OptimizeOptions& options) {
  return value_or_throw(try_optimize(fusion, options));
}

void OptimizedFusion::run_pass(const std::string& name) {
  check(optimize::find_unfit(*this)); // it may have been edited since
  optimize::run_passes(*this, {.passes = std::vector{name}, .verifies_passes = true});
}

TensorView* OptimizedFusion::repeat_input(const TensorView* input) {
  const auto place = std::ranges::find(inputs(), input);
  NVF_INVARIANT(place != inputs().end(), "an input is repeated: ", describe(input));
  const optimize::MadeFor line(input);
  optimize::ValMap axes;
  TensorView* repeated = optimize::copy_tensor(input, input->dtype(), axes);
  arguments_.push_back(arguments_.at(static_cast<size_t>(place - inputs().begin())));
  add_input(repeated);
  return repeated;
}

} // namespace nvfuser
