#include "transform/unit_axes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <unordered_map>
#include <unordered_set>

#include "base/disjoint_set.h"
#include "graph/domain_map.h"
#include "ir/all_nodes.h"
#include "transform/concretize.h"

namespace nvfuser {
namespace {

/// Whether a result is the same for an axis of one element and for a broadcast.
bool takes_broadcasts(const Expr& expr) {
  return visit(
      expr, overloaded{
                [](const UnaryOp&) { return true; }, [](const BinaryOp&) { return true; },
                [](const TernaryOp&) { return true; }, [](const LoadStoreOp&) { return true; },
                [](const BroadcastOp&) { return true; }, [](const SqueezeOp&) { return true; },
                [](const ReductionOp&) { return true; }, [](const WelfordOp&) { return true; },
                [](const Expr&) { return false; }});
}

/// A definition has no other axes than these, in one order or another.
bool has_plain_axes(const TensorView* tensor) {
  const auto is_expanded = [](const IterDomain* axis) { return axis->has_expanded_extent(); };
  return tensor->schedule_steps().empty() && tensor->domain()->all_exprs().empty() &&
         std::ranges::none_of(tensor->logical(), is_expanded);
}

bool may_be_broadcast(const IterDomain* axis) {
  const Val* extent = axis->extent();
  return (axis->is_iteration() || axis->is_reduction()) && !axis->is_thread() &&
         extent->is_symbolic() && extent->definition() == nullptr && !extent->is_fusion_input() &&
         !extent->is_fusion_output();
}

bool is_plain(const Fusion& fusion) {
  const auto updates_input = [&](const Val* output) { return fusion.alias_of(output) != nullptr; };
  return std::ranges::all_of(fusion.tensors(), has_plain_axes) &&
         std::ranges::all_of(
             tensor_exprs(fusion), [](const Expr* expr) { return takes_broadcasts(*expr); }) &&
         std::ranges::none_of(fusion.outputs(), updates_input);
}

/// The axes of all tensors, in sets of those that are one axis of the computation.
DisjointSets<IterDomain*> find_equal_axes(const Fusion& fusion) {
  DisjointSets<IterDomain*> sets;
  std::unordered_map<const Val*, IterDomain*> first_of_size;
  for (const TensorView* tensor : scheduled_tensors(fusion)) {
    for (const IterDomains* axes : {&tensor->maybe_root(), &tensor->logical()}) {
      for (IterDomain* axis : *axes) {
        sets.map_entries(axis, first_of_size.try_emplace(axis->extent(), axis).first->second);
      }
    }
  }
  for (const Expr* expr : tensor_exprs(fusion)) {
    for (const TensorView* out : tensor_outputs(expr)) {
      for (const TensorView* operand : tensor_inputs(expr)) {
        const PairwiseDomainMap map(operand, out, BroadcastPairs::Drop);
        for (const auto& [a, b] : map.pairs()) {
          sets.map_entries(a, b);
        }
      }
    }
  }
  return sets;
}

TensorView* input_of(const Fusion& fusion, size_t position) {
  return static_cast<TensorView*>(fusion.inputs().at(position));
}

/// Unit axes leave the memory order. An axis in front of one is contiguous with the next other axis
/// if both it and the unit axis are contiguous.
void leave_out_of_contiguity(
    TensorDomain* domain, const std::unordered_set<const IterDomain*>& units) {
  const IterDomains& axes = domain->maybe_allocation();
  Contiguity contiguity = domain->contiguity();
  bool is_contiguous = true; // the unit axes since the last other axis
  for (size_t i = axes.size(); i-- > 0;) {
    if (!contiguity[i].has_value()) {
      continue;
    }
    const bool is_unit = units.contains(axes[i]);
    contiguity[i] = *contiguity[i] && is_contiguous;
    is_contiguous = !is_unit || *contiguity[i];
  }
  domain->assign_contiguity(std::move(contiguity));
}

} // namespace

std::vector<UnitCandidate> find_unit_candidates(const Fusion& fusion) {
  if (!is_plain(fusion)) {
    return {};
  }
  const DisjointSets<IterDomain*> sets = find_equal_axes(fusion);
  std::map<size_t, UnitCandidate> found; // by the first axis of a set
  for (size_t i = 0; i < fusion.inputs().size(); ++i) {
    if (!fusion.inputs()[i]->is_tensor()) {
      continue;
    }
    const IterDomains& axes = input_of(fusion, i)->logical();
    for (size_t dim = 0; dim < axes.size(); ++dim) {
      if (std::ranges::all_of(sets.set_of(axes[dim]), may_be_broadcast)) {
        found[sets.first_index(axes[dim])].push_back({.input = i, .dim = dim});
      }
    }
  }
  std::vector<UnitCandidate> candidates;
  std::ranges::copy(std::views::values(found), std::back_inserter(candidates));
  return candidates;
}

void make_broadcasts(Fusion& fusion, const std::vector<UnitCandidate>& candidates) {
  const DisjointSets<IterDomain*> sets = find_equal_axes(fusion);
  std::unordered_set<const IterDomain*> units; // only looked up
  Concretization record;
  for (const UnitCandidate& candidate : candidates) {
    for (const TensorDim& place : candidate) {
      IterDomain* axis = input_of(fusion, place.input)->logical().at(place.dim);
      record.axes.push_back({.axis = axis->name(), .kind = AxisForm::Kind::Broadcast});
      for (IterDomain* equal : sets.set_of(axis)) {
        units.insert(equal);
        if (equal->is_iteration()) { // a reduction is defined anew by what its operand becomes
          equal->assign_iter_type(IterType::Symbolic);
        }
      }
    }
  }
  for (const Val* input : fusion.inputs()) {
    if (input->is_tensor()) {
      leave_out_of_contiguity(static_cast<const TensorView*>(input)->domain(), units);
    }
  }
  concretize(fusion, record);
}

} // namespace nvfuser
