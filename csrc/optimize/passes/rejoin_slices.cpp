// Two walks from a concatenation to what its operands are computed from: one finds out whether they
// are parts of something, the other one makes it.

#include "optimize/passes/rejoin_slices.h"

#include <algorithm>

#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/operands.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

/// Tensors that stand for each other in the parts of a concatenation, in their order.
using Parts = std::vector<TensorView*>;

template <typename Node>
const Node* definition_as(const TensorView* tensor) {
  return tensor->definition() == nullptr ? nullptr : tensor->definition()->as<Node>();
}

// ---- Leaves -------------------------------------------------------------------------------------

/// Whether `slice` takes everything along all dimensions but `dim`.
bool cuts_only(const SliceOp& slice, size_t dim) {
  const std::vector<Val*> sizes = slice.arg->shape();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i != dim && !(slice.starts[i]->is_zero() && slice.stops[i]->same_as(sizes[i]))) {
      return false;
    }
  }
  return true;
}

/// The tensor that is cut along `dim` into exactly these parts; nullptr: there is none.
TensorView* cut_tensor(const Parts& parts, size_t dim) {
  const SliceOp* first = definition_as<SliceOp>(parts.front());
  if (first == nullptr) {
    return nullptr;
  }
  const Val* position = first->fusion()->zero();
  for (const TensorView* part : parts) {
    const SliceOp* slice = definition_as<SliceOp>(part);
    const bool follows = slice != nullptr && slice->arg == first->arg && cuts_only(*slice, dim) &&
                         slice->starts[dim]->same_as(position);
    if (!follows) {
      return nullptr;
    }
    position = slice->stops[dim];
  }
  const bool is_whole = position->same_as(first->arg->shape()[dim]);
  return is_whole ? first->arg : nullptr;
}

/// The tensor that all parts have in common and that has one element along `dim`; nullptr: there is
/// none.
TensorView* common_tensor(const Parts& parts, size_t dim) {
  const bool is_one =
      std::ranges::all_of(parts, [&](const TensorView* part) { return part == parts.front(); });
  const IterDomain* axis = TensorDomain::no_reductions(parts.front()->logical()).at(dim);
  return is_one && axis->is_broadcast() && !axis->has_expanded_extent() ? parts.front() : nullptr;
}

// ---- Operations ---------------------------------------------------------------------------------

bool has_one_reader(const TensorView* tensor) {
  return tensor->all_uses().size() == 1 && !tensor->is_fusion_output();
}

/// Whether all parts are computed by one operation with the same scalars, and read once.
bool are_computed_alike(const Parts& parts) {
  const Expr* first = parts.front()->definition();
  if (first == nullptr || !is_on_elements(*first)) {
    return false;
  }
  return std::ranges::all_of(parts, [&](const TensorView* part) {
    const Expr* expr = part->definition();
    return expr != nullptr && has_one_reader(part) && part->dtype() == parts.front()->dtype() &&
           expr->same_op(first) &&
           std::ranges::equal(expr->inputs(), first->inputs(), [](const Val* a, const Val* b) {
             return a->is_tensor() ? b->is_tensor() : !b->is_tensor() && a->same_as(b);
           });
  });
}

/// The tensors that the parts read at one operand of their operation.
Parts operands_at(const Parts& parts, size_t position) {
  Parts operands;
  for (const TensorView* part : parts) {
    operands.push_back(static_cast<TensorView*>(part->definition()->inputs()[position]));
  }
  return operands;
}

std::vector<size_t> tensor_positions(const Expr& expr) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < expr.inputs().size(); ++i) {
    if (expr.inputs()[i]->is_tensor()) {
      positions.push_back(i);
    }
  }
  return positions;
}

bool is_cut_in(const Parts& parts, size_t dim);

/// Whether some operand is cut in the parts, and all others are cut or in common.
bool has_cut_operands(const Parts& parts, size_t dim) {
  bool is_cut = false;
  for (const size_t position : tensor_positions(*parts.front()->definition())) {
    const Parts operands = operands_at(parts, position);
    if (common_tensor(operands, dim) == nullptr) {
      if (!is_cut_in(operands, dim)) {
        return false;
      }
      is_cut = true;
    }
  }
  return is_cut;
}

bool is_cut_in(const Parts& parts, size_t dim) {
  return cut_tensor(parts, dim) != nullptr ||
         (are_computed_alike(parts) && has_cut_operands(parts, dim));
}

/// The tensor whose parts these are.
/// Requires: is_cut_in(parts, dim).
TensorView* rejoined(const Parts& parts, size_t dim) {
  if (TensorView* whole = cut_tensor(parts, dim)) {
    return whole;
  }
  const Expr& expr = *parts.front()->definition();
  const MadeFor line(&expr);
  ValMap values;
  std::vector<Val*> operands;
  for (const size_t position : tensor_positions(expr)) {
    const Parts read = operands_at(parts, position);
    TensorView* common = common_tensor(read, dim);
    operands.push_back(common != nullptr ? common : rejoined(read, dim));
    values[expr.inputs()[position]] = operands.back();
  }
  auto* whole = static_cast<TensorView*>(ops::new_result(operands, parts.front()->dtype()));
  values[parts.front()] = whole;
  copy_expr(expr, values);
  return whole;
}

// ---- Concatenations -----------------------------------------------------------------------------

/// The operands of a concatenation, without the padding; empty: they are padded in another way.
Parts parts_of(const CatOp& cat) {
  Parts parts;
  for (const TensorView* arg : cat.args) {
    const PadOp* pad = definition_as<PadOp>(arg);
    if (pad == nullptr) {
      return {};
    }
    parts.push_back(pad->arg);
  }
  return parts;
}

bool rejoin(const CatOp& cat) {
  const Parts parts = parts_of(cat);
  const auto dim = static_cast<size_t>(cat.dim);
  if (parts.empty() || !is_cut_in(parts, dim)) {
    return false;
  }
  const MadeFor line(&cat);
  TensorView* whole = rejoined(parts, dim);
  if (!may_stand_for(whole, cat.out)) {
    remove_unread(whole);
    return false;
  }
  const bool is_new =
      whole->all_uses().empty() && !whole->is_fusion_output() && whole->definition() != nullptr;
  is_new ? define_as(cat.out, whole) : replace(cat.out, whole);
  return true;
}

} // namespace

bool rejoin_slices(Fusion& fusion) {
  bool has_changed = false;
  for (Expr* expr : exprs_from_outputs(fusion)) {
    const auto* cat = expr->as<CatOp>();
    if (cat != nullptr && cat->out->definition() == expr) {
      has_changed |= rejoin(*cat);
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
