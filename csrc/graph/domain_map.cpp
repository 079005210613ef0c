#include "graph/domain_map.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "ir/fusion.h"
#include "ir/topo_sort.h"

namespace nvfuser {
namespace {

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
  const OperandUse use = use_of(producer, consumer);
  const IterDomains& read = use.is_of_loops ? first_axes(consumer) : consumer->maybe_root();
  std::vector<IterDomain*> producer_axis(read.size(), nullptr);
  size_t dim = 0;
  for (IterDomain* id : producer->logical()) {
    const AxisUse of_axis = id->is_reduction() ? AxisUse{} : use.axes.at(dim++);
    if (of_axis.is_partner) {
      producer_axis.at(static_cast<size_t>(of_axis.position)) = id;
    } else {
      producer_only_.push_back(id);
    }
  }
  for (size_t i = 0; i < read.size(); ++i) {
    if (producer_axis[i] == nullptr) {
      consumer_only_.push_back(read[i]);
    } else if (broadcasts == BroadcastPairs::Keep || !is_resolved(producer_axis[i], read[i])) {
      pairs_.emplace_back(producer_axis[i], read[i]);
    }
  }
}

IterDomain* PairwiseDomainMap::consumer_of(const IterDomain* producer_axis) const {
  const auto found = std::ranges::find(pairs_, producer_axis, &Pair::first);
  return found == pairs_.end() ? nullptr : found->second;
}

IterDomain* PairwiseDomainMap::producer_of(const IterDomain* consumer_axis) const {
  const auto found = std::ranges::find(pairs_, consumer_axis, &Pair::second);
  return found == pairs_.end() ? nullptr : found->first;
}

IterDomains indexed_axes(const TensorView* producer, const TensorView* consumer) {
  const std::vector<AxisUse> uses = use_of(producer, consumer).axes;
  const auto is_read = [&](AxisRead read) {
    return std::ranges::any_of(uses, [&](const AxisUse& use) { return use.read == read; });
  };
  IterDomains axes;
  if (!is_read(AxisRead::Indexed)) {
    return axes;
  }
  const IterDomains own = TensorDomain::no_reductions(producer->logical());
  for (size_t i = 0; i < own.size(); ++i) {
    if (uses[i].read == AxisRead::Indexed || uses[i].read == AxisRead::Leading) {
      axes.push_back(own[i]);
    }
  }
  return TensorDomain::no_broadcasts(axes);
}

std::vector<Expr*> tensor_exprs(const Fusion& fusion) {
  std::vector<Expr*> exprs =
      fusion.outputs().empty() ? topo_sort(fusion.all_exprs()) : fusion.exprs();
  std::erase_if(exprs, [](const Expr* expr) { return !has_tensor_output(expr); });
  return exprs;
}

std::vector<TensorView*> scheduled_tensors(const Fusion& fusion) {
  std::vector<TensorView*> tensors;
  for (Val* input : fusion.inputs()) {
    if (input->is_tensor()) {
      tensors.push_back(static_cast<TensorView*>(input));
    }
  }
  for (const Expr* expr : tensor_exprs(fusion)) {
    for (const std::vector<Val*>* operands : {&expr->inputs(), &expr->outputs()}) {
      for (Val* operand : *operands) {
        if (operand->is_tensor()) {
          tensors.push_back(static_cast<TensorView*>(operand));
        }
      }
    }
  }
  std::sort(tensors.begin(), tensors.end(), [](const TensorView* a, const TensorView* b) {
    return a->serial() < b->serial();
  });
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  return tensors;
}

} // namespace nvfuser
