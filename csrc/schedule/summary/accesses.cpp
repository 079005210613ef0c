#include "schedule/summary/accesses.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "ir/fusion.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

bool is_elementwise(const TensorView* operand, const Expr* use) {
  return std::ranges::all_of(tensor_outputs(use), [&](const TensorView* result) {
    return std::ranges::all_of(axes_of_use(operand, result), [](const AxisUse& axis) {
      return axis.read == AxisRead::Same || axis.read == AxisRead::Reduced ||
             axis.read == AxisRead::Scanned;
    });
  });
}

std::vector<size_t> find_memory_order(
    const ValGraph& exact, const TensorView* tensor, const IterDomains& axes) {
  std::vector<size_t> order;
  for (const IterDomain* own : TensorDomain::no_broadcasts(axes_in_memory_order(tensor))) {
    const auto found = std::ranges::find_if(axes, [&](const IterDomain* axis) {
      return !axis->is_broadcast() && exact.are_mapped(own, axis);
    });
    if (found == axes.end()) {
      return {};
    }
    order.push_back(static_cast<size_t>(found - axes.begin()));
  }
  return order;
}

std::vector<VectorRun> find_memory_runs(
    const ValGraph& exact,
    const TensorView* tensor,
    const IterDomains& axes,
    const std::vector<size_t>& memory_order) {
  std::vector<VectorRun> runs;
  IterDomains merged;
  for (auto position = memory_order.rbegin(); position != memory_order.rend(); ++position) {
    merged.insert(merged.begin(), axes[*position]);
    VectorRun run = find_vector_run(exact, tensor, merged);
    if (run.memory_axes.size() < merged.size()) {
      break;
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

/// The part that does not depend on the kind of access.
TensorAccess describe_access(
    const ValGraph& exact, TensorView* tensor, size_t position, const IterDomains& axes) {
  TensorAccess access{.tensor = tensor, .position = position, .has_all_axes = true};
  AxesOf own(exact, tensor);
  for (const IterDomain* axis : axes) {
    access.has_axis.push_back(!axis->is_broadcast() && own.have(axis));
    access.has_all_axes &= access.has_axis.back() || axis->is_broadcast();
  }
  for (size_t count = 1; count <= axes.size(); ++count) {
    const auto first = axes.end() - static_cast<std::ptrdiff_t>(count);
    access.runs.push_back(find_vector_run(exact, tensor, {first, axes.end()}));
  }
  for (size_t i = 0; i < axes.size() && !access.lane_axis; ++i) {
    if (access.has_axis[i]) {
      access.lane_run = find_vector_run(exact, tensor, {axes[i]});
      access.lane_axis = access.lane_run.exists ? std::optional(i) : std::nullopt;
    }
  }
  access.memory_order = find_memory_order(exact, tensor, axes);
  access.memory_runs = find_memory_runs(exact, tensor, axes, access.memory_order);
  return access;
}

std::optional<size_t> position_of(const std::vector<Val*>& list, const Val* val) {
  const auto found = std::ranges::find(list, val);
  return found == list.end() ? std::nullopt : std::optional<size_t>(found - list.begin());
}

} // namespace

bool TensorAccess::has_any_axis(size_t begin, size_t end) const {
  for (size_t i = begin; i < end; ++i) {
    if (has_axis[i]) {
      return true;
    }
  }
  return false;
}

std::vector<Expr*> elementwise_uses(const TensorView* tensor) {
  std::vector<Expr*> uses = tensor->uses();
  std::erase_if(uses, [&](const Expr* use) { return !is_elementwise(tensor, use); });
  return uses;
}

std::vector<TensorAccess> find_accesses(
    const Fusion& fusion, const ValGraph& exact, const IterDomains& axes) {
  std::vector<TensorAccess> accesses;
  for (size_t i = 0; i < fusion.inputs().size(); ++i) {
    if (!fusion.inputs()[i]->is_tensor()) {
      continue;
    }
    auto* tensor = static_cast<TensorView*>(fusion.inputs()[i]);
    if (!tensor->uses().empty()) {
      accesses.push_back(describe_access(exact, tensor, i, axes));
      accesses.back().elementwise_uses = elementwise_uses(tensor);
    }
  }
  for (size_t i = 0; i < fusion.outputs().size(); ++i) {
    Val* output = fusion.outputs()[i];
    if (output->is_fusion_input() || position_of(fusion.outputs(), output) != i) {
      continue;
    }
    accesses.push_back(describe_access(exact, static_cast<TensorView*>(output), i, axes));
    accesses.back().is_output = true;
    if (const AliasInfo* alias = fusion.alias_of(output)) {
      accesses.back().updated_input = position_of(fusion.inputs(), alias->input);
    }
  }
  return accesses;
}

} // namespace nvfuser::schedule
