#include "schedule/summary/fusion_summary.h"

#include <algorithm>

#include "graph/domain_map.h"
#include "ir/find_undefined.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

void add_once(std::vector<TensorView*>& list, Val* val) {
  if (val->is_tensor() && std::ranges::find(list, val) == list.end()) {
    list.push_back(static_cast<TensorView*>(val));
  }
}

/// The tensors that have to be computed inside of the loops of a reference: all but inputs whose
/// elements are only looked up.
std::vector<TensorView*> covered_tensors(
    const std::vector<TensorView*>& inputs, const std::vector<TensorView*>& computed) {
  std::vector<TensorView*> tensors(computed);
  for (TensorView* input : inputs) {
    if (!elementwise_uses(input).empty()) {
      tensors.push_back(input);
    }
  }
  return tensors;
}

} // namespace

FusionSummary::FusionSummary(Fusion& fusion)
    : fusion_(fusion),
      model_(shared_id_model(fusion)),
      exact_(model_->maybe_build_graph(IdMappingMode::exact)),
      exprs_(tensor_exprs(fusion)) {
  check(find_undefined_tensor(fusion));
  collect_tensors();
  reductions_ = find_reductions(exprs_, inputs_, exact_);
  persistent_buffers_ = find_persistent_buffers(exprs_, inputs_, reductions_);
  find_problem();
  if (reductions_.empty()) {
    reference_ = find_reference(exact_, outputs_, covered_tensors(inputs_, computed_));
  }
  if (reference_.reference) {
    accesses_ = find_accesses(fusion, exact_, reference_.reference->axes);
    lookups_ = find_lookups(fusion, exact_, exprs_, reference_.reference->axes);
    find_cost();
  }
}

void FusionSummary::collect_tensors() {
  for (Val* input : fusion_.inputs()) {
    if (!input->uses().empty()) {
      add_once(inputs_, input);
    }
  }
  for (Val* output : fusion_.outputs()) {
    if (!output->is_fusion_input()) {
      add_once(outputs_, output);
    }
  }
  for (const Expr* expr : exprs_) {
    const std::vector<TensorView*> results = tensor_outputs(expr);
    computed_.insert(computed_.end(), results.begin(), results.end());
    if (const auto* reshape = expr->as<ReshapeOp>()) {
      reshapes_.push_back(reshape);
    }
  }
}

void FusionSummary::find_problem() {
  if (reductions_.empty()) {
    return;
  }
  const auto inner = std::ranges::find_if(
      reductions_, [](const ReductionFacts& facts) { return facts.axes.back()->is_reduction(); });
  const ReductionFacts& facts = inner == reductions_.end() ? reductions_.front() : *inner;
  problem_ = make_reduction_problem(fusion_, exact_, exprs_, facts);
}

size_t FusionSummary::reference_access() const {
  const auto found = std::ranges::find_if(accesses_, [&](const TensorAccess& access) {
    return access.is_output && access.tensor == reference_.reference->tensor;
  });
  NVF_INVARIANT(found != accesses_.end(), "the reference is an output");
  return static_cast<size_t>(found - accesses_.begin());
}

void FusionSummary::find_cost() {
  const size_t axes = concrete_axes(reference_.reference->tensor).size();
  for (const Expr* expr : exprs_) {
    const std::vector<TensorView*> results = tensor_outputs(expr);
    const bool is_for_each = std::ranges::any_of(
        results, [&](const TensorView* result) { return concrete_axes(result).size() >= axes; });
    if (is_for_each) {
      cost_ += cost_of(expr);
    }
  }
}

} // namespace nvfuser::schedule
