#include "optimize/passes/cancel_views.h"

#include <algorithm>

#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/reshape_nodes.h"
#include "ops/shape.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

template <typename Node>
const Node* definition_as(const Val* val) {
  return val->definition() == nullptr ? nullptr : val->definition()->as<Node>();
}

// The tensor that a view comes down to: another tensor with the same elements, which may be new;
// nullptr: it stays.

/// The flags of `inner`, then those of `outer`: whether each dimension of the result is new.
std::vector<bool> joined_broadcasts(
    const std::vector<bool>& inner, const std::vector<bool>& outer) {
  std::vector<bool> flags;
  auto next = inner.begin();
  for (const bool is_new : outer) {
    flags.push_back(is_new || *next++);
  }
  return flags;
}

TensorView* simpler(const BroadcastOp& op) {
  if (const auto* inner = definition_as<BroadcastOp>(op.arg)) {
    return ops::broadcast(inner->arg, joined_broadcasts(inner->flags, op.flags));
  }
  const auto* squeeze = definition_as<SqueezeOp>(op.arg);
  const bool restores = squeeze != nullptr && squeeze->flags == op.flags;
  return restores ? squeeze->arg : nullptr;
}

/// squeeze(broadcast(x)), where all that is removed is new.
TensorView* without_removed(const SqueezeOp& op, const BroadcastOp& inner) {
  std::vector<bool> kept;
  for (size_t i = 0; i < op.flags.size(); ++i) {
    if (op.flags[i] && !inner.flags[i]) {
      return nullptr;
    }
    if (!op.flags[i]) {
      kept.push_back(inner.flags[i]);
    }
  }
  return ops::broadcast(inner.arg, kept); // the operand itself if no dimension is new any more
}

TensorView* simpler(const SqueezeOp& op) {
  if (const auto* inner = definition_as<BroadcastOp>(op.arg)) {
    return without_removed(op, *inner);
  }
  const auto* inner = definition_as<SqueezeOp>(op.arg);
  if (inner == nullptr) {
    return nullptr;
  }
  std::vector<int64_t> dims;
  auto next = op.flags.begin();
  for (size_t i = 0; i < inner->flags.size(); ++i) {
    if (inner->flags[i] || *next++) {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  return ops::squeeze_ones(inner->arg, dims, inner->squeeze_expanded || op.squeeze_expanded);
}

TensorView* simpler(const ExpandOp& op) {
  if (have_same_shape(op.arg, op.out)) {
    return op.arg;
  }
  const auto* inner = definition_as<ExpandOp>(op.arg);
  return inner == nullptr ? nullptr : ops::expand(inner->arg, op.extents);
}

/// The dimension of the operand for each dimension of a permuted copy; empty: it is no such copy.
std::vector<int64_t> permutation_of(const LoadStoreOp* op) {
  std::vector<int64_t> dims;
  if (op == nullptr || op->op != LoadStoreOpType::Set || !op->out->is_tensor()) {
    return dims;
  }
  const auto* out = static_cast<const TensorView*>(op->out);
  for (const IterDomain* axis : out->logical()) {
    const auto place = std::ranges::find(out->root(), axis);
    if (place == out->root().end()) {
      return {};
    }
    dims.push_back(place - out->root().begin());
  }
  return dims;
}

TensorView* simpler(const LoadStoreOp& op) {
  std::vector<int64_t> dims = permutation_of(&op);
  const auto* inner = definition_as<LoadStoreOp>(op.arg);
  const std::vector<int64_t> before = permutation_of(inner);
  if (dims.empty() || before.empty()) {
    return nullptr;
  }
  std::ranges::transform(
      dims, dims.begin(), [&](int64_t dim) { return before.at(static_cast<size_t>(dim)); });
  auto* arg = static_cast<TensorView*>(inner->arg);
  return std::ranges::is_sorted(dims) ? arg : ops::permute(arg, dims);
}

TensorView* simpler(const ReshapeOp& op) {
  return have_same_shape(op.arg, op.out) ? op.arg : nullptr;
}

/// A part that is as large as the whole is the whole.
TensorView* simpler(const SliceOp& op) {
  return have_same_shape(op.arg, op.out) ? op.arg : nullptr;
}

TensorView* simpler(const PadOp& op) {
  return std::ranges::all_of(op.widths, &Val::is_zero_int) ? op.arg : nullptr;
}

TensorView* simpler(const Expr&) {
  return nullptr;
}

bool simplify(const Expr& expr) {
  auto* out = static_cast<TensorView*>(expr.output(0));
  const MadeFor line(&expr);
  TensorView* found = visit(expr, [](const auto& op) { return simpler(op); });
  if (found == nullptr) {
    return false;
  }
  const bool is_new =
      found->all_uses().empty() && found->definition() != nullptr && !found->is_fusion_output();
  if (!may_stand_for(found, out)) {
    if (is_new) {
      remove_unread(found);
    }
    return false;
  }
  if (is_new) {
    define_as(out, found);
  } else {
    replace(out, found);
  }
  return true;
}

} // namespace

bool cancel_views(Fusion& fusion) {
  bool has_changed = false;
  for (Expr* expr : exprs_from_outputs(fusion)) {
    if (expr->output(0)->is_tensor() && expr->output(0)->definition() == expr) {
      has_changed |= simplify(*expr);
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
