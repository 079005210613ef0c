#include "transform/apply_step.h"

#include "base/errors.h"
#include "ir/fusion.h"
#include "transform/group_reductions.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"
#include "transform/settings.h"

namespace nvfuser {
namespace {

using Made = std::vector<TensorView*>;

// ---- One function for each primitive ------------------------------------------------------------

Made apply(TensorView* tv, const steps::Split& step) {
  tv->split(step.axis, step.factor, step.inner_split);
  return {};
}

Made apply(TensorView* tv, const steps::Merge& step) {
  tv->merge(step.axis_o, step.axis_i);
  return {};
}

Made apply(TensorView* tv, const steps::Reorder& step) {
  tv->reorder(std::unordered_map<int64_t, int64_t>(step.old2new.begin(), step.old2new.end()));
  return {};
}

Made apply(TensorView* tv, const steps::Swizzle& step) {
  tv->swizzle(step.swizzle_type, step.x, step.y);
  return {};
}

Made apply(TensorView* tv, const steps::Swizzle1d& step) {
  tv->swizzle1d(step.x, step.parallel_type);
  return {};
}

Made apply(TensorView* tv, const steps::Broadcast& step) {
  tv->broadcast(step.axis, step.extent);
  return {};
}

Made apply(TensorView* tv, const steps::Resize& step) {
  tv->resize(step.axis, step.left, step.right, step.iter_type);
  return {};
}

Made apply(TensorView* tv, const steps::SetLoopDomain& step) {
  tv->set_loop_domain(step.new_loop_domain);
  return {};
}

Made apply(TensorView* tv, const steps::TransformLike& step) {
  transform::transform_like(tv, step.selected_tensors);
  return {};
}

Made apply(TensorView* tv, const steps::BoundedTransformBackward& step) {
  transform::bounded_transform_backward(tv, step.pos, step.to, step.propagate_parallel_type);
  return {};
}

Made apply(TensorView* tv, const steps::BoundedTransformForward& step) {
  transform::bounded_transform_forward(tv, step.pos, step.to, step.propagate_parallel_type);
  return {};
}

Made apply(TensorView* tv, const steps::BoundedTransformBoth& step) {
  transform::bounded_transform_both(
      tv, step.pos, step.backward_to, step.forward_to, step.propagate_parallel_type);
  return {};
}

Made apply(TensorView* tv, const steps::ParallelizeLike& step) {
  const std::vector<ParallelType>& types = step.selected_parallel_types;
  transform::parallelize_like(
      tv, step.pos, step.selected_tensors, {types.begin(), types.end()}, step.propagate_padding);
  return {};
}

Made apply(TensorView* tv, const steps::SetMemoryType& step) {
  tv->set_memory_type(step.memory_type);
  return {};
}

template <size_t kProperty>
Made apply(TensorView* tv, const steps::Set<kProperty>& step) {
  transform::set(tv, step);
  return {};
}

Made apply(TensorView* tv, const steps::SetAllocationDomain& step) {
  tv->set_allocation_domain(step.new_allocation_domain, step.new_contiguity);
  return {};
}

Made apply(TensorView* tv, const steps::SetContiguity& step) {
  tv->set_contiguity(step.contiguity);
  return {};
}

Made apply(TensorView* tv, const steps::InlineAt& step) {
  tv->inline_at(step.pos, step.best_effort);
  return {};
}

Made apply(TensorView* tv, const steps::InlineAllAt& step) {
  transform::inline_at(tv, step.pos, step.best_effort, step.selected_tensors);
  return {};
}

Made apply(TensorView* tv, const steps::ComputeWith& step) {
  tv->compute_with(step.pos, step.best_effort);
  return {};
}

Made apply(TensorView* tv, const steps::ClearComputePosition& /*step*/) {
  tv->clear_compute_position();
  return {};
}

Made apply(TensorView* tv, const steps::CircularBuffer& step) {
  tv->circular_buffer(step.number_of_stages, step.prefetch_distance, step.type);
  return {};
}

Made apply(TensorView* tv, const steps::CacheAfter& step) {
  return {tv->cache_after(
      step.op_type, step.cache_op, step.propagate_allocation_domain, step.cached_uses)};
}

Made apply(TensorView* tv, const steps::CacheBefore& step) {
  return {tv->cache_before(step.op_type)};
}

Made apply(TensorView* tv, const steps::CacheFork& /*step*/) {
  return {tv->cache_fork()};
}

Made apply(TensorView* tv, const steps::Rfactor& step) {
  return step.tvs.empty() ? Made{tv->rfactor(step.axes)} : tv->rfactor(step.axes, step.tvs);
}

Made apply(TensorView* /*tv*/, const steps::GroupReductions& step) {
  transform::group_reductions(step.tvs);
  return {};
}

Made apply(TensorView* tv, const steps::CommitLeafToLogical& /*step*/) {
  tv->commit_leaf_to_logical();
  return {};
}

Made apply(TensorView* tv, const steps::ClearReductionIterDomains& /*step*/) {
  tv->clear_reduction_iter_domains();
  return {};
}

} // namespace

std::vector<TensorView*> apply_step(TensorView* tensor, const ScheduleCall& call) {
  const Fusion& fusion = *tensor->fusion();
  (void)map_statements(call, [&]<typename T>(T* statement) {
    fusion.check_contains(statement);
    return statement;
  });
  return std::visit([tensor](const auto& step) { return apply(tensor, step); }, call);
}

} // namespace nvfuser
