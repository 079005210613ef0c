#include "lower/kernel.h"

#include "eval/simplify.h"
#include "graph/id_model.h"
#include "ir/scalar.h"
#include "lower/loop_model.h"
#include "lower/pipeline.h"
#include "transform/siblings.h"

namespace nvfuser {

Val* RangeTest::holds() const {
  Val* below = scalar::lt(index, extent);
  return may_be_negative ? scalar::logical_and(scalar::ge(index, index->fusion()->zero()), below)
                         : below;
}

bool RangeTest::same_as(const RangeTest& other) const {
  return index->same_as(other.index) && extent->same_as(other.extent) &&
         may_be_negative == other.may_be_negative;
}

Kernel::Kernel(LoweringOptions options) : options_(std::move(options)) {}

Kernel::~Kernel() = default;

std::shared_ptr<Kernel> Kernel::lower(const Fusion& fusion, const LoweringOptions& options) {
  NVF_USER_CHECK(!fusion.outputs().empty(), "No output found for this kernel, aborting.");
  std::shared_ptr<Kernel> kernel(new Kernel(options));
  const FusionGuard guard(kernel.get());
  kernel->copy_from(fusion);
  align_siblings(*kernel);
  for (Val* out : kernel->outputs()) {
    const bool is_repeated = std::any_of(
        kernel->launch.buffers.begin(), kernel->launch.buffers.end(),
        [&](const GlobalBuffer& buffer) { return buffer.tensor == out; });
    if (!is_repeated && !out->is_fusion_input()) {
      kernel->launch.buffers.push_back(
          {static_cast<TensorView*>(out), /*zero_init=*/false, /*is_output=*/true});
    }
  }
  run_passes(*kernel);
  return kernel;
}

std::string Kernel::print_kernel_ir() const {
  std::string text = "%kernel_ir {\n";
  for (const Expr* expr : body) {
    text += expr->to_string(1);
  }
  return text + "} // %kernel_ir\n";
}

} // namespace nvfuser
