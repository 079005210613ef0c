#include "optimize/passes/fold_casts.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/cast.h"
#include "optimize/number_formats.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

/// A conversion of the elements of a tensor; nullptr: it is none.
const UnaryOp* as_cast(const Expr* expr) {
  const auto* op = expr == nullptr ? nullptr : expr->as<UnaryOp>();
  return op != nullptr && op->op == UnaryOpType::Cast && op->out->is_tensor() ? op : nullptr;
}

bool widens(const UnaryOp& cast) {
  return holds_all_values(cast.out->dtype(), cast.arg->dtype()) &&
         size_bits(cast.out->dtype()) > size_bits(cast.arg->dtype());
}

// ---- Chains -------------------------------------------------------------------------------------

/// Whether a conversion from `a` to `b` and on to `c` is one from `a` to `c`.
bool is_one_step(DataType a, DataType b, DataType c) {
  const bool drops_a_part = is_complex(a) && !is_complex(c); // with a warning, once
  if (drops_a_part || (a != c && cast_text(a, c).empty())) {
    return false;
  }
  const bool wraps_twice = is_integral(a) && is_integral(b) && is_integral(c) &&
                           size_bits(b) <= size_bits(a) && size_bits(c) <= size_bits(b);
  return holds_all_values(b, a) || wraps_twice;
}

bool shorten_chain(const UnaryOp& cast) {
  const UnaryOp* before = as_cast(cast.arg->definition());
  if (before == nullptr ||
      !is_one_step(before->arg->dtype(), cast.arg->dtype(), cast.out->dtype())) {
    return false;
  }
  auto* source = static_cast<TensorView*>(before->arg);
  auto* out = static_cast<TensorView*>(cast.out);
  if (source->dtype() == out->dtype()) {
    if (!may_stand_for(source, out)) {
      return false;
    }
    replace(out, source);
    return true;
  }
  const MadeFor line(&cast);
  define_as(out, ops::cast(source, out->dtype()));
  return true;
}

// ---- Views --------------------------------------------------------------------------------------

/// The operand that a view or a look-up shows elements of, as they are; nullptr: `expr` is neither.
TensorView* shown_operand(const Expr& expr) {
  if (!shows_first_operand(expr)) {
    return nullptr;
  }
  auto* operand = static_cast<TensorView*>(expr.input(0));
  const std::vector<Val*>& inputs = expr.inputs();
  return std::ranges::count(inputs, operand) == 1 ? operand : nullptr;
}

/// view(wide(x)) -> wide(view(x))
bool widen_late(const Expr& view) {
  TensorView* operand = shown_operand(view);
  const UnaryOp* cast = operand == nullptr ? nullptr : as_cast(operand->definition());
  if (cast == nullptr || !widens(*cast) || repeats_elements(view)) {
    return false;
  }
  auto* out = static_cast<TensorView*>(view.output(0));
  TensorView* narrow = nullptr;
  {
    const MadeFor line(&view);
    narrow = apply_to(view, {{operand, cast->arg}}, cast->arg->dtype()).front();
  }
  const MadeFor line(cast);
  define_as(out, ops::cast(narrow, out->dtype()));
  return true;
}

/// narrow(view(x)) -> view(narrow(x)), for as many views as stand there.
bool narrow_early(const UnaryOp& cast) {
  auto* shown = static_cast<TensorView*>(cast.arg);
  const Expr* view = shown->definition();
  TensorView* operand = view == nullptr ? nullptr : shown_operand(*view);
  if (operand == nullptr || shown->all_uses().size() != 1 || shown->is_fusion_output() ||
      size_bits(cast.out->dtype()) >= size_bits(shown->dtype()) ||
      semantics_of(*view).elements != ElementSource::Reshaped) {
    return false;
  }
  auto* out = static_cast<TensorView*>(cast.out);
  TensorView* narrow = nullptr;
  {
    const MadeFor line(&cast);
    narrow = ops::cast(operand, out->dtype());
  }
  {
    const MadeFor line(view);
    define_as(out, apply_to(*view, {{operand, narrow}}, out->dtype()).front());
  }
  narrow_early(*as_cast(narrow->definition()));
  return true;
}

} // namespace

bool fold_casts(Fusion& fusion) {
  bool has_changed = false;
  const std::vector<Expr*> exprs = exprs_from_outputs(fusion);
  const auto for_each_live = [&](const auto& list, const auto& rewrite) {
    for (Expr* expr : list) {
      if (expr->output(0)->is_tensor() && expr->output(0)->definition() == expr) {
        has_changed |= rewrite(*expr);
      }
    }
  };
  for_each_live(exprs, [](const Expr& expr) {
    const UnaryOp* cast = as_cast(&expr);
    return cast != nullptr ? shorten_chain(*cast) : widen_late(expr);
  });
  // Readers first, so that a cast passes all views in its way.
  std::vector<Expr*> readers_first = exprs_from_outputs(fusion);
  std::ranges::reverse(readers_first);
  for_each_live(readers_first, [](const Expr& expr) {
    const UnaryOp* cast = as_cast(&expr);
    return cast != nullptr && narrow_early(*cast);
  });
  return has_changed;
}

} // namespace nvfuser::optimize
