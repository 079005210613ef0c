#include "optimize/passes/unify_extents.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "graph/output_order.h"
#include "graph/val_graph.h"
#include "ir/substitute_scalars.h"

namespace nvfuser::optimize {
namespace {

/// Axes with sizes of their own: those of inputs first, then in the order of outputs.
IterDomains sized_axes(const Fusion& fusion) {
  std::vector<const TensorView*> tensors;
  for (const Val* input : fusion.inputs()) {
    if (input->is_tensor()) {
      tensors.push_back(static_cast<const TensorView*>(input));
    }
  }
  for (const Expr* expr : exprs_from_outputs(fusion)) {
    const std::vector<TensorView*> results = tensor_outputs(expr);
    std::ranges::copy_if(results, std::back_inserter(tensors), [](const TensorView* result) {
      return !result->is_fusion_input();
    });
  }
  IterDomains axes;
  for (const TensorView* tensor : tensors) {
    for (const IterDomains* ids : {&tensor->root(), &tensor->logical()}) {
      std::ranges::copy_if(*ids, std::back_inserter(axes), [](const IterDomain* id) {
        return !id->is_broadcast() && id->extent()->definition() == nullptr;
      });
    }
  }
  return axes;
}

bool contradict(const Val* a, const Val* b) {
  return a->is_const() && b->is_const() && !a->same_as(b);
}

} // namespace

bool unify_extents(Fusion& fusion) {
  IdModel model(&fusion);
  const ValGraph& exact = model.maybe_build_graph(IdMappingMode::exact);
  const IterDomains axes = sized_axes(fusion);
  std::unordered_map<int64_t, Val*> chosen; // by group; only looked up
  std::unordered_set<int64_t> is_contradictory;
  for (const IterDomain* axis : axes) {
    const int64_t group = exact.group(axis);
    Val*& size = chosen.try_emplace(group, axis->extent()).first->second;
    if (contradict(size, axis->extent())) {
      is_contradictory.insert(group);
    }
    size = size->is_symbolic() && axis->extent()->is_const() ? axis->extent() : size;
  }
  ScalarSubstitution substitution(fusion);
  bool has_changed = false;
  for (const IterDomain* axis : axes) {
    const int64_t group = exact.group(axis);
    Val* size = axis->extent();
    // A number that a user gives is of the user's type, and may mean more than this size.
    const bool is_free = size->is_symbolic() && !size->is_fusion_input();
    if (is_free && size != chosen.at(group) && !is_contradictory.contains(group)) {
      substitution.replace(size, chosen.at(group));
      has_changed = true;
    }
  }
  if (has_changed) {
    substitution.apply(scheduled_tensors(fusion));
  }
  return has_changed;
}

} // namespace nvfuser::optimize
