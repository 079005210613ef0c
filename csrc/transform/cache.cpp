// Copies of a tensor between it and its neighbors.
//   cache_after:   x -> y         becomes  x -> copy -> y
//   cache_before:  def -> x       becomes  def -> producer -> x (a copy)
//   cache_fork:    x is output    becomes  x -> output, and x -> its other uses
#include <algorithm>

#include "base/errors.h"
#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/node_check.h"
#include "ir/replay_domain.h"

namespace nvfuser {
namespace {

/// `may_read_inlined`: producers may be computed inside of the tensor's loops.
void check_not_inlined(const TensorView* tv, bool may_read_inlined = false) {
  const bool is_shared = tv->compute_at_position() > 0 || tv->compute_with_position() > 0;
  if (is_shared || (!may_read_inlined && tv->is_inlined())) {
    throw UserError(
        {.headline = "Caching computed-at tensors is not allowed. Apply caching before computeAt",
         .node = describe(tv),
         .expected = may_read_inlined ? "no compute at position"
                                      : "no compute at position and no max producer position",
         .found =
             {"computePosition = ", tv->compute_at_position(),
              " maxProducerPosition = ", tv->max_producer_position()},
         .fix = "cache tensors before inlining them, or call clear_compute_position first"});
  }
}

void check_cache_op(LoadStoreOpType op_type, CacheOp cache_op) {
  if (op_type == LoadStoreOpType::CpAsync) {
    NVF_USER_CHECK(
        cache_op != CacheOp::Streaming, "cp.async only takes .ca or .cg. as cache operator");
  } else if (op_type != LoadStoreOpType::Set) {
    NVF_USER_CHECK(cache_op == CacheOp::Unspecified, "Only Set and CpAsync take a cache operator.");
  }
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

TensorView* TensorView::cache_after(
    LoadStoreOpType op_type,
    CacheOp cache_op,
    bool propagate_allocation_domain,
    const std::vector<Expr*>& cached_uses) {
  check_cache_op(op_type, cache_op);
  const std::vector<Expr*> users = cached_uses.empty() ? all_uses() : cached_uses;
  NVF_NODE_CHECK(
      !uses().empty(), this, "Error adding cacheAfter ", to_string(),
      " we restrict using cacheAfter on tensors that have no further uses.");
  for (const Expr* use : cached_uses) {
    NVF_NODE_CHECK(
        std::find(all_uses().begin(), all_uses().end(), use) != all_uses().end(), this,
        "cached_uses is not among the use of the TensorView");
  }
  check_not_inlined(this, /*may_read_inlined=*/true);

  TensorView* copy = fusion()->new_tensor(copied_axes(this), dtype());
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
  NVF_NODE_CHECK(
      definition() != nullptr, this, "Error adding cacheBefore ", to_string(),
      " its definition is a nullptr and we restrict using cacheBefore on an input.");
  check_not_inlined(this);

  // The producer takes the domain that was scheduled; this tensor gets a replay of it.
  TensorView* producer = fusion()->new_tensor(domain(), dtype());
  fusion()->replace_output_of(definition(), this, producer);
  assign_domain(copied_axes(producer));
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
  if (!is_fusion_output() || uses().empty()) {
    throw UserError(
        {.headline =
             {"Error adding cacheFork ", to_string(),
              " this TensorView must be an output with subsequent uses"},
         .node = describe(this),
         .expected = "a fusion output that other expressions read",
         .found = is_fusion_output() ? "an output without uses" : "no output",
         .fix = "use cache_before on an output that nothing else reads"});
  }
  check_not_inlined(this);
  TensorView* output = fusion()->new_tensor(copied_axes(this), dtype());
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
