// Direct changes of a tensor's domain, for tensors whose domain other code made.
#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/replay_domain.h"
#include "ir/rules.h"
#include "transform/rules.h"

namespace nvfuser::transform {
namespace {

/// A split of a logical axis has to divide it: what lies beyond the end would become elements.
std::optional<Refusal> find_indivisible_split(const TensorView* tv, const Split& split) {
  const Val* extent = split.in->extent();
  const bool divides =
      split.factor->is_one() || (extent->is_const_int() && split.factor->is_const_int() &&
                                 as_int(extent->value()) % as_int(split.factor->value()) == 0);
  if (divides) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "A split that may not divide its axis cannot become part of the shape",
       .node = describe(tv),
       .expected = "constant extents that the factor divides",
       .found = {split.in->to_string(), " split by ", split.factor->to_inline_string()},
       .fix = "reshape the tensor instead"});
}

/// An update in place and its input are the same elements.
std::optional<Refusal> find_update(const TensorView* tv) {
  const AliasInfo* alias = tv->fusion()->alias_of(tv);
  const std::vector<const TensorView*> updates = tv->fusion()->updates_of(tv);
  if (alias == nullptr && updates.empty()) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "The shape of an update in place is that of its input",
       .node = describe(tv),
       .expected = "a tensor that shares no memory",
       .found = alias != nullptr ? Part("updates ", describe(alias->input))
                                 : Part("updated by ", describe(updates.front())),
       .fix = "change the shape before add_output, or reshape the tensor instead"});
}

} // namespace

std::optional<Refusal> find_wrong_commit_leaf_to_logical(const TensorView* tv) {
  if (!tv->all_uses().empty()) {
    return refuse(
        {.headline = "Changing the logical domain of an intermediate tensor is not supported yet",
         .node = describe(tv),
         .expected = "a tensor that nothing reads",
         .found = {tv->all_uses().size(), " uses"},
         .fix = "reshape the tensor instead"});
  }
  NVF_RETURN_REFUSAL(find_update(tv));
  for (const Expr* expr : exprs_between(tv->logical(), tv->loop())) {
    if (const auto* split = expr->as<Split>()) {
      NVF_RETURN_REFUSAL(find_indivisible_split(tv, *split));
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_wrong_clear_reduction_iter_domains(const TensorView* tv) {
  if (tv->has_root()) {
    return refuse_node(
        tv, {"should not call clear_reduction_iter_domains on an rfactor tensor: ", describe(tv)});
  }
  if (tv->loop() != tv->logical()) {
    return refuse_node(
        tv, "should not call clear_reduction_iter_domains on an already transformed tensor");
  }
  if (tv->definition() == nullptr || !tv->domain()->has_reduction()) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "The axes that a reduction reduces cannot be dropped",
       .node = describe(tv),
       .expected = "a tensor that no reduction of the fusion makes",
       .found = describe(tv->definition()),
       .fix = "copy the result (ops.set): the copy has no reduction axes"});
}

} // namespace nvfuser::transform

namespace nvfuser {

void TensorView::set_contiguity(bool contiguity) {
  set_contiguity(TensorDomain::contiguity_filled_with(maybe_allocation(), contiguity));
}

void TensorView::set_contiguity(const Contiguity& contiguity) {
  check_contiguity(maybe_allocation(), contiguity);
  domain()->assign_contiguity(contiguity);
  replay_layout_on_updates(this);
  record_step(steps::SetContiguity{.contiguity = contiguity});
}

void TensorView::commit_leaf_to_logical() {
  check(transform::find_wrong_commit_leaf_to_logical(this));
  const IterDomains& stored = has_allocation() ? domain()->allocation() : loop();
  TensorDomain* before = domain();
  assign_domain(
      fusion()->new_tensor_domain(
          TensorDomainSpec{
              .root = domain()->maybe_root(),
              .logical = loop(),
              .allocation = domain()->allocation(),
              .loop = loop(),
              .contiguity = TensorDomain::contiguity_filled_with(stored, true)}));
  record_step(
      steps::CommitLeafToLogical{}, {.change = GraphChange::CommitLeafToLogical,
                                     .tensors = {this},
                                     .made = {},
                                     .before = {before},
                                     .axes = {}});
}

void TensorView::clear_reduction_iter_domains() {
  check(transform::find_wrong_clear_reduction_iter_domains(this));
  TensorDomainSpec spec{
      .root = {},
      .logical = TensorDomain::no_reductions(logical()),
      .allocation = TensorDomain::no_reductions(domain()->allocation()),
      .loop = {},
      .contiguity = {}};
  for (size_t i = 0; i < maybe_allocation().size(); ++i) {
    if (!maybe_allocation()[i]->is_reduction()) {
      spec.contiguity.push_back(domain()->contiguity()[i]);
    }
  }
  assign_domain(fusion()->new_tensor_domain(std::move(spec)));
  record_step(steps::ClearReductionIterDomains{});
}

} // namespace nvfuser
