#include "transform/graph_steps.h"

#include <algorithm>
#include <unordered_set>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "ir/make_like.h"

namespace nvfuser {
namespace {

const LoadStoreOp& copy_of(const TensorView* tensor) {
  const auto* copy =
      tensor->definition() == nullptr ? nullptr : tensor->definition()->as<LoadStoreOp>();
  NVF_INVARIANT(copy != nullptr, "a cache is a copy: ", describe(tensor));
  return *copy;
}

void undo_cache_after(GraphStep& step) {
  TensorView* source = step.effect.tensors.front();
  TensorView* copy = step.effect.made.front();
  Fusion& fusion = *source->fusion();
  step.op_type = copy_of(copy).op;
  step.cache_op = copy_of(copy).cache_op;
  if (source->uses().size() > 1) { // others read the source itself
    for (const Expr* use : copy->uses()) {
      step.readers.push_back(static_cast<TensorView*>(use->output(0)));
    }
  }
  fusion.remove(copy->definition());
  fusion.replace_uses(copy, source, std::vector<Expr*>(copy->all_uses()));
}

void undo_cache_before(GraphStep& step) {
  TensorView* copy = step.effect.tensors.front();
  TensorView* producer = step.effect.made.front();
  Fusion& fusion = *copy->fusion();
  step.op_type = copy_of(copy).op;
  for (const Expr* use : producer->uses()) {
    if (use != copy->definition()) {
      step.readers.push_back(static_cast<TensorView*>(use->output(0)));
    }
  }
  fusion.remove(copy->definition());
  fusion.replace_output_of(producer->definition(), producer, copy);
  fusion.replace_uses(producer, copy, std::vector<Expr*>(producer->all_uses()));
  // A layout that the producer was given since is not one of the definition.
  const bool is_laid_out = producer->has_step<steps::SetAllocationDomain>();
  TensorDomain* domain = producer->domain();
  copy->assign_domain(
      is_laid_out ? fusion.new_tensor_domain(
                        {.root = domain->root(),
                         .logical = domain->logical(),
                         .allocation = {},
                         .loop = {},
                         .contiguity = {}})
                  : domain);
}

void undo_cache_fork(GraphStep& step) {
  TensorView* tensor = step.effect.tensors.front();
  TensorView* output = step.effect.made.front();
  Fusion& fusion = *tensor->fusion();
  fusion.replace_output(output, tensor);
  fusion.remove(output->definition());
}

/// The second stage reads what the first one reads.
void undo_rfactor(GraphStep& step) {
  const Expr& second = *step.effect.tensors.front()->definition();
  const Expr& first = *step.effect.made.front()->definition();
  make_like(second, first.inputs(), std::vector<Val*>(second.outputs()));
  for (size_t i = 0; i < step.effect.tensors.size(); ++i) {
    step.effect.tensors[i]->assign_domain(step.effect.before[i]);
  }
}

void undo_group(GraphStep& step) {
  const auto* group = step.effect.tensors.front()->definition()->as<GroupedReductionOp>();
  NVF_INVARIANT(group != nullptr, "grouped reductions are one expression");
  for (size_t i = 0; i < group->outs.size(); ++i) {
    group->fusion()->make<ReductionOp>(
        {.out = group->outs[i],
         .arg = group->args[i],
         .init = group->inits[i],
         .op = group->ops[i]});
  }
}

using Tensors = std::unordered_set<const TensorView*>;

const LoadStoreOp* copy_into(const TensorView* tensor) {
  return tensor->definition() == nullptr ? nullptr : tensor->definition()->as<LoadStoreOp>();
}

/// Tensors that `cache_before` made.
Tensors computing_caches(const std::vector<TensorView*>& tensors) {
  Tensors caches;
  for (const TensorView* tensor : tensors) {
    for (const TensorView::Step& step : tensor->schedule_steps()) {
      if (step.effect.change == GraphChange::CacheBefore) {
        caches.insert(step.effect.made.begin(), step.effect.made.end());
      }
    }
  }
  return caches;
}

/// Whether what a step made is still computed as it left it, or by a cache of it. A tensor that
/// became an input since is not computed at all, and lowering puts copies behind reductions.
bool is_intact(const GraphEffect& effect, const Tensors& caches) {
  const auto is_copy = [](const TensorView* tensor) { return copy_into(tensor) != nullptr; };
  const auto is_reduction = [&](const TensorView* tensor) {
    const LoadStoreOp* copy = copy_into(tensor);
    while (copy != nullptr && caches.contains(static_cast<const TensorView*>(copy->arg))) {
      tensor = static_cast<const TensorView*>(copy->arg);
      copy = copy_into(tensor);
    }
    const Expr* expr = tensor->definition();
    return expr != nullptr && semantics_of(*expr).has_steps;
  };
  switch (effect.change) {
    case GraphChange::CacheAfter:
    case GraphChange::CacheFork: return is_copy(effect.made.front());
    case GraphChange::CacheBefore:
      return is_copy(effect.tensors.front()) && effect.made.front()->definition() != nullptr;
    case GraphChange::Rfactor:
      return is_reduction(effect.tensors.front()) && is_reduction(effect.made.front());
    case GraphChange::GroupReductions: return is_reduction(effect.tensors.front());
    case GraphChange::None:
    case GraphChange::CommitLeafToLogical: return true;
  }
  return true;
}

} // namespace

std::vector<GraphStep> graph_steps(const Fusion& fusion) {
  const std::vector<TensorView*> tensors = fusion.tensors();
  const Tensors live(tensors.begin(), tensors.end());
  const Tensors caches = computing_caches(tensors);
  const auto is_scheduled = [&](const GraphEffect& effect) {
    if (effect.change == GraphChange::None) {
      return false;
    }
    const bool is_output_math =
        effect.change == GraphChange::CacheAfter && effect.made.front()->is_fusion_output();
    const auto is_live = [&](const TensorView* tensor) { return live.contains(tensor); };
    return !is_output_math && std::ranges::all_of(effect.made, is_live) &&
           is_intact(effect, caches);
  };
  std::vector<GraphStep> steps;
  for (const TensorView* tensor : tensors) {
    for (const TensorView::Step& step : tensor->schedule_steps()) {
      if (is_scheduled(step.effect)) {
        steps.push_back({.effect = step.effect, .serial = step.serial, .readers = {}});
      }
    }
  }
  std::sort(steps.begin(), steps.end(), [](const GraphStep& a, const GraphStep& b) {
    return a.serial < b.serial;
  });
  return steps;
}

void undo_graph_step(GraphStep& step) {
  switch (step.effect.change) {
    case GraphChange::None: return;
    case GraphChange::CacheAfter: return undo_cache_after(step);
    case GraphChange::CacheBefore: return undo_cache_before(step);
    case GraphChange::CacheFork: return undo_cache_fork(step);
    case GraphChange::Rfactor: return undo_rfactor(step);
    case GraphChange::GroupReductions: return undo_group(step);
    case GraphChange::CommitLeafToLogical:
      return step.effect.tensors.front()->assign_domain(step.effect.before.front());
  }
}

} // namespace nvfuser
