// Where a tensor is, how it lies there, and which loops run over it.
#include "graph/op_semantics.h"
#include "ir/fusion.h"
#include "ir/pointwise.h"
#include "ir/replay_domain.h"
#include "ir/rules.h"
#include "transform/bulk_copy.h"
#include "transform/domain_cover.h"
#include "transform/rules.h"
#include "transform/settings.h"

namespace nvfuser::transform {

std::optional<Refusal> find_wrong_memory_type(const TensorView* tv, MemoryType memory_type) {
  const bool is_interface = tv->is_fusion_input() || tv->is_fusion_output();
  if (!is_interface || memory_type == MemoryType::Global || memory_type == MemoryType::Symmetric) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "Tried to set an input or output to the fusion to a non-global memory type.",
       .node = describe(tv),
       .expected = "global or symmetric memory",
       .found = enum_name(memory_type),
       .fix = "copy an input with cache_after, or an output with cache_before, and move the copy"});
}

std::optional<Refusal> find_wrong_setting(const TensorView* tv, const steps::PromoteReuse&) {
  if (tv->memory_type() == MemoryType::Shared) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "promote_reuse is for tensors in shared memory",
       .node = describe(tv),
       .expected = "a tensor in shared memory",
       .found = enum_name(tv->memory_type()),
       .fix = "call set_memory_type(MemoryType.shared) first"});
}

std::optional<Refusal> find_wrong_setting(const TensorView* tv, const steps::SetCacheHint& step) {
  if (step.value == CacheHint::Unspecified) {
    return std::nullopt;
  }
  const Expr* definition = tv->definition();
  const auto* copy = definition == nullptr ? nullptr : definition->as<LoadStoreOp>();
  const bool is_copy = copy != nullptr ||
                       (is_bulk_copy(definition) && !is_bulk_update(definition)) ||
                       (definition != nullptr && is_elementwise_copy(*definition));
  if (!is_copy) {
    return refuse(
        {.headline = "A cache hint is for the result of a copy",
         .node = describe(tv),
         .expected = "a tensor that is copied from or to global memory",
         .found = definition == nullptr ? Part("a tensor without definition")
                                        : Part("a result of ", definition->op_name()),
         .fix = "copy an input with cache_after, or an output with cache_before, and give the copy "
                "the hint"});
  }
  const bool is_plain = copy == nullptr || copy->op == LoadStoreOpType::Set;
  if (step.value == CacheHint::NoAllocate && (!is_plain || is_bulk_copy(definition))) {
    return refuse(
        {.headline = "Asynchronous copies have no hint about the first-level cache",
         .node = describe(tv),
         .expected = "a copy with LoadStoreOpType.set",
         .found = copy == nullptr ? Part("a bulk copy") : Part(enum_name(copy->op)),
         .fix = "cp.async passes it with CacheOp.Global, and bulk copies never fill it"});
  }
  return std::nullopt;
}

std::optional<Refusal> find_wrong_allocation_domain(
    const TensorView* tv, const IterDomains& ids, const Contiguity& contiguity) {
  NVF_RETURN_REFUSAL(find_wrong_cover(tv, ids, CoveringDomain::Allocation));
  return find_wrong_contiguity(ids, contiguity);
}

std::optional<Refusal> find_wrong_loop_domain(const TensorView* tv, const IterDomains& ids) {
  if (tv->is_inlined()) {
    return refuse(
        {.headline = "Cannot set the loop domain of an inlined tensor",
         .node = describe(tv),
         .expected = "no compute at position and no max producer position",
         .found =
             {"computePosition = ", tv->compute_at_position(),
              " maxProducerPosition = ", tv->max_producer_position()},
         .fix = "set loop domains before inlining, or call clear_compute_position first"});
  }
  return find_wrong_cover(tv, ids, CoveringDomain::Loop);
}

} // namespace nvfuser::transform

namespace nvfuser {

void TensorView::set_memory_type(MemoryType memory_type) {
  check(transform::find_wrong_memory_type(this, memory_type));
  assign_memory_type(memory_type);
  record_step(steps::SetMemoryType{.memory_type = memory_type});
}

void TensorView::set_allocation_domain(const IterDomains& ids, bool contiguity) {
  set_allocation_domain(ids, TensorDomain::contiguity_filled_with(ids, contiguity));
}

void TensorView::set_allocation_domain(const IterDomains& ids, const Contiguity& contiguity) {
  check(transform::find_wrong_allocation_domain(this, ids, contiguity));
  domain()->assign_allocation(ids, contiguity);
  replay_layout_on_updates(this);
  record_step(
      steps::SetAllocationDomain{.new_allocation_domain = ids, .new_contiguity = contiguity});
}

void TensorView::set_loop_domain(const IterDomains& ids) {
  check(transform::find_wrong_loop_domain(this, ids));
  domain()->assign_loop(ids);
  record_step(steps::SetLoopDomain{.new_loop_domain = ids});
}

} // namespace nvfuser
