// Copies of a tensor between it and its neighbors.
//   cache_after:   x -> y         becomes  x -> copy -> y
//   cache_before:  def -> x       becomes  def -> producer -> x (a copy)
//   cache_fork:    x is output    becomes  x -> output, and x -> its other uses
#include <algorithm>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/replay_domain.h"
#include "ir/rules.h"
#include "transform/rules.h"

namespace nvfuser::transform {
namespace {

/// `may_read_inlined`: producers may be computed inside of the tensor's loops.
std::optional<Refusal> find_inlined(const TensorView* tv, bool may_read_inlined = false) {
  const bool is_shared = tv->compute_at_position() > 0 || tv->compute_with_position() > 0;
  if (!is_shared && (may_read_inlined || !tv->is_inlined())) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "Caching computed-at tensors is not allowed. Apply caching before computeAt",
       .node = describe(tv),
       .expected = may_read_inlined ? "no compute at position"
                                    : "no compute at position and no max producer position",
       .found =
           {"computePosition = ", tv->compute_at_position(),
            " maxProducerPosition = ", tv->max_producer_position()},
       .fix = "cache tensors before inlining them, or call clear_compute_position first"});
}

std::optional<Refusal> find_wrong_cache_op(
    const TensorView* tv, LoadStoreOpType op_type, CacheOp cache_op) {
  if (op_type == LoadStoreOpType::CpAsync && cache_op == CacheOp::Streaming) {
    return refuse_node(tv, "cp.async only takes .ca or .cg. as cache operator");
  }
  if (op_type != LoadStoreOpType::CpAsync && op_type != LoadStoreOpType::Set &&
      cache_op != CacheOp::Unspecified) {
    return refuse_node(tv, "Only Set and CpAsync take a cache operator.");
  }
  return std::nullopt;
}

/// A domain of new axes, one for each of the tensor's that is no reduction; row-major.
TensorDomain* copied_axes(const TensorView* tv) {
  TensorDomainSpec spec;
  for (const IterDomain* id : TensorDomain::no_reductions(tv->logical())) {
    spec.logical.push_back(copy_id(id));
  }
  return tv->fusion()->new_tensor_domain(std::move(spec));
}

} // namespace

std::optional<Refusal> find_wrong_cache_after(
    const TensorView* tv,
    LoadStoreOpType op_type,
    CacheOp cache_op,
    const std::vector<Expr*>& cached_uses) {
  NVF_RETURN_REFUSAL(find_wrong_cache_op(tv, op_type, cache_op));
  if (tv->uses().empty()) {
    return refuse_node(
        tv, {"Error adding cacheAfter ", tv->to_string(),
             " we restrict using cacheAfter on tensors that have no further uses."});
  }
  const std::vector<Expr*>& uses = tv->all_uses();
  for (const Expr* use : cached_uses) {
    if (std::find(uses.begin(), uses.end(), use) == uses.end()) {
      return refuse_node(tv, "cached_uses is not among the use of the TensorView");
    }
  }
  return find_inlined(tv, /*may_read_inlined=*/true);
}

std::optional<Refusal> find_wrong_cache_before(const TensorView* tv) {
  if (tv->definition() == nullptr) {
    return refuse_node(
        tv, {"Error adding cacheBefore ", tv->to_string(),
             " its definition is a nullptr and we restrict using cacheBefore on an input."});
  }
  return find_inlined(tv);
}

std::optional<Refusal> find_wrong_cache_fork(const TensorView* tv) {
  if (!tv->is_fusion_output() || tv->uses().empty()) {
    return refuse(
        {.headline =
             {"Error adding cacheFork ", tv->to_string(),
              " this TensorView must be an output with subsequent uses"},
         .node = describe(tv),
         .expected = "a fusion output that other expressions read",
         .found = tv->is_fusion_output() ? "an output without uses" : "no output",
         .fix = "use cache_before on an output that nothing else reads"});
  }
  return find_inlined(tv);
}

} // namespace nvfuser::transform

namespace nvfuser {

TensorView* TensorView::cache_after(
    LoadStoreOpType op_type,
    CacheOp cache_op,
    bool propagate_allocation_domain,
    const std::vector<Expr*>& cached_uses) {
  check(transform::find_wrong_cache_after(this, op_type, cache_op, cached_uses));
  const std::vector<Expr*> users = cached_uses.empty() ? all_uses() : cached_uses;
  TensorView* copy = fusion()->new_tensor(transform::copied_axes(this), dtype());
  if (propagate_allocation_domain) {
    replay_domain_on(copy, domain(), ReplayContiguity::AllTrue);
  }
  fusion()->make<LoadStoreOp>({.out = copy, .arg = this, .op = op_type, .cache_op = cache_op});
  fusion()->replace_uses(this, copy, users);
  record_step(
      steps::CacheAfter{
          .op_type = op_type,
          .cache_op = cache_op,
          .propagate_allocation_domain = propagate_allocation_domain,
          .cached_uses = cached_uses},
      {.change = GraphChange::CacheAfter,
       .tensors = {this},
       .made = {copy},
       .before = {},
       .axes = {}});
  return copy;
}

TensorView* TensorView::cache_before(LoadStoreOpType op_type) {
  check(transform::find_wrong_cache_before(this));
  // The producer takes the domain that was scheduled; this tensor gets a replay of it.
  TensorView* producer = fusion()->new_tensor(domain(), dtype());
  fusion()->replace_output_of(definition(), this, producer);
  assign_domain(transform::copied_axes(producer));
  replay_domain_on(this, producer->domain());
  producer->domain()->assign_contiguity(
      TensorDomain::contiguity_filled_with(producer->maybe_allocation(), true));
  fusion()->make<LoadStoreOp>(
      {.out = this, .arg = producer, .op = op_type, .cache_op = CacheOp::Unspecified});
  record_step(
      steps::CacheBefore{.op_type = op_type}, {.change = GraphChange::CacheBefore,
                                               .tensors = {this},
                                               .made = {producer},
                                               .before = {},
                                               .axes = {}});
  return producer;
}

TensorView* TensorView::cache_fork() {
  check(transform::find_wrong_cache_fork(this));
  TensorView* output = fusion()->new_tensor(transform::copied_axes(this), dtype());
  replay_domain_on(output, domain());
  fusion()->make<LoadStoreOp>(
      {.out = output, .arg = this, .op = LoadStoreOpType::Set, .cache_op = CacheOp::Unspecified});
  fusion()->replace_output(this, output);
  if (!is_fusion_input()) { // else it lies as its caller says
    domain()->assign_contiguity(TensorDomain::contiguity_filled_with(maybe_allocation(), true));
  }
  record_step(
      steps::CacheFork{}, {.change = GraphChange::CacheFork,
                           .tensors = {this},
                           .made = {output},
                           .before = {},
                           .axes = {}});
  return output;
}

} // namespace nvfuser
