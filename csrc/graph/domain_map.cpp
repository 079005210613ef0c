#include "graph/domain_map.h"

#include <algorithm>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/topo_sort.h"

namespace nvfuser {
namespace {

IterDomain* lookup(
    const std::unordered_map<const IterDomain*, IterDomain*>& map, const IterDomain* key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

std::vector<TensorView*> tensors_among(const std::vector<Val*>& vals) {
  std::vector<TensorView*> tensors;
  for (Val* val : vals) {
    if (val->is_tensor() && std::find(tensors.begin(), tensors.end(), val) == tensors.end()) {
      tensors.push_back(static_cast<TensorView*>(val));
    }
  }
  return tensors;
}

/// One of them is a broadcast, the other is larger. A reduction over a broadcast is not.
bool is_resolved(const IterDomain* id0, const IterDomain* id1) {
  return id0->is_broadcast() != id1->is_broadcast() &&
         !(id0->extent()->is_one() && id1->extent()->is_one());
}

bool has_tensor_output(const Expr* expr) {
  const std::vector<Val*>& outs = expr->outputs();
  return std::any_of(outs.begin(), outs.end(), [](const Val* val) { return val->is_tensor(); });
}

} // namespace

PairwiseDomainMap::PairwiseDomainMap(
    const TensorView* producer, const TensorView* consumer, BroadcastPairs broadcasts) {
  const Expr* expr = consumer->definition();
  NVF_INVARIANT(expr != nullptr, "a consumer has a definition: ", describe(consumer));
  NVF_INVARIANT(
      std::find(expr->inputs().begin(), expr->inputs().end(), producer) != expr->inputs().end(),
      describe(consumer), " reads ", describe(producer));

  // Flags of axes that only one side has; expressions without such flags map by position.
  const auto* broadcast = expr->as<BroadcastOp>();
  const auto* squeeze = expr->as<SqueezeOp>();
  size_t flag = 0; // of the operand's dimensions, for a squeeze
  IterDomains shown;
  for (IterDomain* id : producer->logical()) {
    if (id->is_reduction() || (squeeze != nullptr && squeeze->flags.at(flag++))) {
      producer_only_.push_back(id);
    } else {
      shown.push_back(id);
    }
  }
  size_t next = 0;
  for (size_t i = 0; i < consumer->maybe_root().size(); ++i) {
    IterDomain* consumer_id = consumer->maybe_root()[i];
    if (broadcast != nullptr && broadcast->flags.at(i)) {
      consumer_only_.push_back(consumer_id);
      continue;
    }
    NVF_INVARIANT(next < shown.size(), "every axis of ", describe(consumer), " is new or read");
    IterDomain* producer_id = shown[next++];
    if (broadcasts == BroadcastPairs::Drop && is_resolved(producer_id, consumer_id)) {
      continue;
    }
    pairs_.emplace_back(producer_id, consumer_id);
    consumer_of_[producer_id] = consumer_id;
    producer_of_[consumer_id] = producer_id;
  }
  NVF_INVARIANT(next == shown.size(), "every axis of ", describe(producer), " is read or dropped");
}

IterDomain* PairwiseDomainMap::consumer_of(const IterDomain* producer_axis) const {
  return lookup(consumer_of_, producer_axis);
}

IterDomain* PairwiseDomainMap::producer_of(const IterDomain* consumer_axis) const {
  return lookup(producer_of_, consumer_axis);
}

std::vector<TensorView*> tensor_inputs(const Expr* expr) {
  return tensors_among(expr->inputs());
}

std::vector<TensorView*> tensor_outputs(const Expr* expr) {
  return tensors_among(expr->outputs());
}

std::vector<Expr*> tensor_exprs(const Fusion& fusion) {
  std::vector<Expr*> exprs =
      fusion.outputs().empty() ? topo_sort(fusion.all_exprs()) : fusion.exprs();
  std::erase_if(exprs, [](const Expr* expr) { return !has_tensor_output(expr); });
  return exprs;
}

std::vector<TensorView*> scheduled_tensors(const Fusion& fusion) {
  std::vector<TensorView*> tensors = tensors_among(fusion.inputs());
  for (const Expr* expr : tensor_exprs(fusion)) {
    const std::vector<TensorView*> ins = tensor_inputs(expr);
    const std::vector<TensorView*> outs = tensor_outputs(expr);
    tensors.insert(tensors.end(), ins.begin(), ins.end());
    tensors.insert(tensors.end(), outs.begin(), outs.end());
  }
  std::sort(tensors.begin(), tensors.end(), [](const TensorView* a, const TensorView* b) {
    return a->serial() < b->serial();
  });
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  return tensors;
}

} // namespace nvfuser
