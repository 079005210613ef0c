#include "lower/kernel.h"

#include <algorithm>
#include <unordered_set>

#include "base/source_location_scope.h"
#include "base/value_or_throw.h"
#include "eval/simplify.h"
#include "graph/id_model.h"
#include "ir/find_undefined.h"
#include "ir/print.h"
#include "ir/scalar.h"
#include "lower/analysis/loop_model.h"
#include "lower/index_types.h"
#include "lower/pipeline.h"
#include "transform/concretization.h"
#include "transform/definition_order.h"
#include "transform/siblings.h"

namespace nvfuser {

std::optional<Refusal> find_wrong_index_type(DataType type) {
  if (type == DataType::Int || type == DataType::Int32) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"Indices cannot be computed in ", type},
      .node = Part::none(),
      .expected = {"index_type DataType.Int or DataType.Int32"},
      .found = {"index_type DataType.", enum_name(type)},
      .fix = {"leave index_type unset"},
  });
}

namespace {

std::optional<Refusal> find_missing_outputs(const Fusion& fusion) {
  if (!fusion.outputs().empty()) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"No output found for this kernel, aborting."},
      .node = Part::none(),
      .expected = Part::none(),
      .found = Part::none(),
      .fix = Part::none(),
  });
}

/// An expression that leads to no output is no reader of one that does.
void remove_unused_exprs(Kernel& kernel) {
  const std::vector<Expr*> exprs = kernel.exprs();
  const std::unordered_set<const Expr*> used(exprs.begin(), exprs.end());
  for (Expr* expr : kernel.all_exprs()) {
    const bool is_of_tensors = std::any_of(
        expr->outputs().begin(), expr->outputs().end(),
        [](const Val* out) { return out->is_tensor(); });
    if (is_of_tensors && !used.contains(expr)) {
      kernel.remove(expr);
    }
  }
}

} // namespace

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

std::variant<std::shared_ptr<Kernel>, Refusal> Kernel::try_lower(
    const Fusion& fusion, const LoweringOptions& options) {
  std::shared_ptr<Kernel> kernel(new Kernel(options));
  if (auto refusal = kernel->lower_copy_of(fusion)) {
    return std::move(*refusal);
  }
  return kernel;
}

std::shared_ptr<Kernel> Kernel::lower(const Fusion& fusion, const LoweringOptions& options) {
  return value_or_throw(try_lower(fusion, options));
}

std::optional<Refusal> Kernel::lower_copy_of(const Fusion& fusion) {
  NVF_RETURN_REFUSAL(find_wrong_index_type(index_type()));
  NVF_RETURN_REFUSAL(find_missing_outputs(fusion));
  NVF_RETURN_REFUSAL(find_undefined_tensor(fusion));
  NVF_RETURN_REFUSAL(find_unresolved(fusion));
  const FusionGuard guard(this);
  const SourceLocationScope at_call(current_source_location()); // asked for once
  copy_from(fusion);
  definition_order = put_in_order_of_definition(*this);
  remove_unused_exprs(*this);
  NVF_RETURN_REFUSAL(try_align_siblings(*this));
  for (Val* out : outputs()) {
    const bool is_repeated = std::any_of(
        launch.buffers.begin(), launch.buffers.end(),
        [&](const GlobalBuffer& buffer) { return buffer.tensor == out; });
    if (!is_repeated && !out->is_fusion_input()) {
      launch.buffers.push_back(
          {static_cast<TensorView*>(out), /*zero_init=*/false, /*is_output=*/true});
    }
  }
  return run_passes(*this);
}

void Kernel::check_complete() const {
  const auto& all = lowering_passes();
  if (passes.size() != all.size()) {
    throw UserError(
        {.headline = "The kernel is not lowered to its end",
         .node = Part::none(),
         .expected = {"all ", all.size(), " passes, up to ", all.back().name},
         .found = {passes.size(), " passes, up to ", passes.empty() ? "none" : passes.back().name},
         .fix = "lower the fusion without `until`"});
  }
}

std::string Kernel::print_kernel_ir() const {
  return "%kernel_ir {\n" + print_scope(body, 1) + "} // %kernel_ir\n";
}

} // namespace nvfuser
