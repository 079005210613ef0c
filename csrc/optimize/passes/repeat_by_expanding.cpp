#include "optimize/passes/repeat_by_expanding.h"

#include <algorithm>

#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ir/scalar.h"
#include "ops/reshape_nodes.h"
#include "ops/shape.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

/// A tensor, and how often it stands along each of its dimensions.
struct Repetition {
  TensorView* tensor = nullptr;
  std::vector<int64_t> repeats;
};

const PadOp* as_pad(const TensorView* tensor) {
  return tensor->definition() == nullptr ? nullptr : tensor->definition()->as<PadOp>();
}

/// Whether `pad` shifts its operand by `before` along `dim`, and by nothing along others.
bool shifts(const PadOp& pad, size_t dim, const Val* before) {
  for (size_t i = 0; i < pad.widths.size(); ++i) {
    const bool is_shift = i / 2 == dim;
    if (!is_shift && !pad.widths[i]->is_zero()) {
      return false;
    }
  }
  return pad.widths[2 * dim]->same_as(before);
}

/// The one tensor whose copies lie behind each other; none: there are several, or holes.
Repetition repetition_in(const CatOp& cat) {
  const PadOp* first = as_pad(cat.args.front());
  if (first == nullptr) {
    return {};
  }
  Fusion& fusion = *cat.fusion();
  Val* before = fusion.zero();
  for (const TensorView* arg : cat.args) {
    const PadOp* pad = as_pad(arg);
    if (pad == nullptr || pad->arg != first->arg ||
        !shifts(*pad, static_cast<size_t>(cat.dim), before)) {
      return {};
    }
    before = scalar::add(before, first->arg->size(cat.dim));
  }
  Repetition found{first->arg, std::vector<int64_t>(static_cast<size_t>(first->arg->rank()), 1)};
  found.repeats[static_cast<size_t>(cat.dim)] = static_cast<int64_t>(cat.args.size());
  return found;
}

Repetition repetition_in(const RepeatOp& op) {
  return {op.arg, op.repeats};
}

Repetition repetition_in(const Expr&) {
  return {};
}

/// Whether a dimension of one element is repeated. Merged with it, an expanded axis stays expanded,
/// and is no axis with elements as that of the result is.
bool repeats_single_element(const Repetition& repetition) {
  const IterDomains axes = TensorDomain::no_reductions(repetition.tensor->logical());
  for (size_t dim = 0; dim < axes.size(); ++dim) {
    if (repetition.repeats[dim] > 1 && axes[dim]->is_broadcast()) {
      return true;
    }
  }
  return false;
}

/// The tensor in the shape `shape`, by views.
TensorView* expanded(const Repetition& repetition, const std::vector<Val*>& shape) {
  Fusion& fusion = *repetition.tensor->fusion();
  std::vector<bool> is_new;
  std::vector<Val*> sizes;
  ops::ReshapeWalk walk;
  for (size_t dim = 0; dim < repetition.repeats.size(); ++dim) {
    if (repetition.repeats[dim] > 1) {
      is_new.push_back(true);
      sizes.push_back(fusion.new_index(repetition.repeats[dim]));
      walk.transforms.push_back({.position = static_cast<int64_t>(dim)});
    }
    is_new.push_back(false);
    sizes.push_back(fusion.new_index(-1)); // as it is
  }
  TensorView* wide = ops::expand(ops::broadcast(repetition.tensor, is_new), sizes);
  return ops::apply_walk(wide, walk, shape);
}

bool rewrite(const Expr& expr) {
  auto* out = static_cast<TensorView*>(expr.output(0));
  const Repetition found = visit(expr, [](const auto& op) { return repetition_in(op); });
  if (found.tensor == nullptr || repeats_single_element(found)) {
    return false;
  }
  const MadeFor line(&expr);
  TensorView* result = expanded(found, out->shape());
  if (!may_stand_for(result, out)) {
    remove_unread(result);
    return false;
  }
  define_as(out, result);
  return true;
}

} // namespace

bool repeat_by_expanding(Fusion& fusion) {
  bool has_changed = false;
  for (Expr* expr : exprs_from_outputs(fusion)) {
    if (expr->output(0)->is_tensor() && expr->output(0)->definition() == expr) {
      has_changed |= rewrite(*expr);
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
