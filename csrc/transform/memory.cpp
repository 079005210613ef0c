// Where a tensor is, how it lies there, and which loops run over it.
#include "base/errors.h"
#include "ir/fusion.h"
#include "ir/replay_domain.h"
#include "ir/transaction.h"
#include "transform/domain_cover.h"

namespace nvfuser {

void TensorView::set_memory_type(MemoryType memory_type) {
  const bool is_interface = is_fusion_input() || is_fusion_output();
  if (is_interface && memory_type != MemoryType::Global && memory_type != MemoryType::Symmetric) {
    throw UserError(
        {.headline = "Tried to set an input or output to the fusion to a non-global memory type.",
         .node = describe(this),
         .expected = "global or symmetric memory",
         .found = enum_name(memory_type),
         .fix =
             "copy an input with cache_after, or an output with cache_before, and move the copy"});
  }
  assign_memory_type(memory_type);
  record_step(steps::SetMemoryType{.memory_type = memory_type});
}

TensorView* TensorView::promote_reuse(bool flag) {
  if (memory_type() != MemoryType::Shared) {
    throw UserError(
        {.headline = "promote_reuse is for tensors in shared memory",
         .node = describe(this),
         .expected = "a tensor in shared memory",
         .found = enum_name(memory_type()),
         .fix = "call set_memory_type(MemoryType.shared) first"});
  }
  edit_schedule().promotes_reuse = flag;
  record_step(steps::PromoteReuse{.flag = flag});
  return this;
}

void TensorView::set_allocation_domain(const IterDomains& ids, bool contiguity) {
  set_allocation_domain(ids, TensorDomain::contiguity_filled_with(ids, contiguity));
}

void TensorView::set_allocation_domain(const IterDomains& ids, const Contiguity& contiguity) {
  const Transaction transaction(fusion());
  check_covers(this, ids, CoveringDomain::Allocation);
  check_contiguity(ids, contiguity);
  domain()->assign_allocation(ids, contiguity);
  replay_layout_on_updates(this);
  record_step(
      steps::SetAllocationDomain{.new_allocation_domain = ids, .new_contiguity = contiguity});
}

void TensorView::set_loop_domain(const IterDomains& ids) {
  if (is_inlined()) {
    throw UserError(
        {.headline = "Cannot set the loop domain of an inlined tensor",
         .node = describe(this),
         .expected = "no compute at position and no max producer position",
         .found =
             {"computePosition = ", compute_at_position(),
              " maxProducerPosition = ", max_producer_position()},
         .fix = "set loop domains before inlining, or call clear_compute_position first"});
  }
  const Transaction transaction(fusion());
  check_covers(this, ids, CoveringDomain::Loop);
  domain()->assign_loop(ids);
  record_step(steps::SetLoopDomain{.new_loop_domain = ids});
}

} // namespace nvfuser
