#include "optimize/rewrite.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "ir/replay_domain.h"
#include "ops/shape.h"

namespace nvfuser::optimize {
namespace {

IterType read_as(IterType type) {
  return type == IterType::GatherScatter ? IterType::Iteration : type;
}

bool are_same(const Val* a, const Val* b) {
  return a == b || (a != nullptr && b != nullptr && a->same_as(b));
}

/// Let `out` be defined by nothing, and other results of its definition keep theirs. Returns the
/// tensors that may be unread now.
std::vector<TensorView*> detach(TensorView* out) {
  Expr* definition = out->definition();
  if (definition == nullptr) {
    return {};
  }
  if (definition->outputs().size() > 1) {
    ValMap axes;
    TensorView* stand_in = copy_tensor(out, out->dtype(), axes);
    out->fusion()->replace_output_of(definition, out, stand_in);
    return {stand_in};
  }
  std::vector<TensorView*> operands = tensor_inputs(definition);
  out->fusion()->remove(definition);
  return operands;
}

} // namespace

// ---- Questions ----------------------------------------------------------------------------------

bool is_on_elements(const Expr& expr) {
  const OpSemantics& semantics = semantics_of(expr);
  return semantics.read == OperandRead::Same && semantics.elements == ElementSource::Computed;
}

bool repeats_elements(const Expr& expr) {
  return semantics_of(expr).repeats_elements;
}

bool changes_broadcast_axes(const Expr& expr) {
  const OpSemantics& semantics = semantics_of(expr);
  return semantics.elements == ElementSource::Reshaped && semantics.view == ViewOf::Anything;
}

bool have_same_shape(const TensorView* a, const TensorView* b) {
  const IterDomains axes = TensorDomain::no_reductions(a->logical());
  const IterDomains others = TensorDomain::no_reductions(b->logical());
  return std::ranges::equal(axes, others, [](const IterDomain* x, const IterDomain* y) {
    return read_as(x->iter_type()) == read_as(y->iter_type()) &&
           are_same(x->extent(), y->extent()) &&
           are_same(x->expanded_extent(), y->expanded_extent());
  });
}

bool may_stand_for(const TensorView* to, const TensorView* from) {
  return to != from && to->dtype() == from->dtype() &&
         to->is_cpu_scalar() == from->is_cpu_scalar() && have_same_shape(to, from);
}

bool is_updated(const TensorView* tensor) {
  return tensor->is_fusion_input() && !tensor->fusion()->updates_of(tensor).empty();
}

std::optional<double> constant_number(const Val* val) {
  if (!val->is_scalar() || !val->is_const() || is_complex(val->dtype())) {
    return std::nullopt;
  }
  return as_double(val->value());
}

// ---- Editing ------------------------------------------------------------------------------------

void remove_unread(TensorView* tensor) {
  std::vector<TensorView*> pending{tensor};
  while (!pending.empty()) {
    Expr* definition = pending.back()->definition();
    pending.pop_back();
    if (definition == nullptr || std::ranges::any_of(definition->outputs(), [](const Val* result) {
          return result->is_fusion_output() || !result->all_uses().empty();
        })) {
      continue;
    }
    const std::vector<TensorView*> operands = tensor_inputs(definition);
    tensor->fusion()->remove(definition);
    pending.insert(pending.end(), operands.begin(), operands.end());
  }
}

void define_as(TensorView* out, TensorView* result) {
  NVF_INVARIANT(result->all_uses().empty(), "nothing reads ", describe(result));
  const TensorDomain* before = out->domain();
  const std::vector<TensorView*> operands = detach(out);
  out->fusion()->replace_output_of(result->definition(), result, out);
  out->assign_domain(result->domain());
  replay_domain_on(out, before); // it lies where it was to lie, for instance as an input does
  std::ranges::for_each(operands, remove_unread);
}

void replace(TensorView* from, TensorView* to) {
  NVF_INVARIANT(may_stand_for(to, from), describe(to), " does not fit for ", describe(from));
  Fusion& fusion = *from->fusion();
  fusion.replace_uses(from, to, std::vector<Expr*>(from->all_uses()));
  if (!from->is_fusion_output()) {
    remove_unread(from);
    return;
  }
  const bool is_free = to->definition() != nullptr && !to->is_fusion_output();
  if (is_free) {
    fusion.replace_uses(to, from, std::vector<Expr*>(to->all_uses()));
    define_as(from, to);
  } else {
    const MadeFor line(from);
    define_as(from, ops::set(to));
  }
}

// ---- Copying ------------------------------------------------------------------------------------

Expr* copy_expr(const Expr& expr, const ValMap& values) {
  return visit(expr, [&]<typename Node>(const Node& node) -> Expr* {
    typename Node::Fields fields = node;
    for_each_leaf(fields, [&]<typename Leaf>(Leaf&& leaf) {
      using Pointer = std::remove_cvref_t<Leaf>;
      if constexpr (is_statement_pointer_v<Pointer>) {
        if constexpr (std::is_base_of_v<Val, std::remove_pointer_t<Pointer>>) {
          if (const auto found = values.find(leaf); found != values.end()) {
            leaf = static_cast<Pointer>(found->second);
          }
        }
      }
    });
    return expr.fusion()->make<Node>(std::move(fields));
  });
}

TensorView* copy_tensor(const TensorView* tensor, DataType dtype, ValMap& axes) {
  Fusion& fusion = *tensor->fusion();
  const TensorDomain* domain = tensor->domain();
  for (const IterDomain* id : domain->all_ids()) {
    axes[id] = fusion.new_iter_domain(id->spec());
  }
  for (const Expr* transform : domain->all_exprs()) {
    copy_expr(*transform, axes);
  }
  TensorDomainSpec spec = domain->spec();
  for_each_leaf(spec, [&]<typename Leaf>(Leaf&& leaf) {
    if constexpr (std::is_same_v<std::remove_cvref_t<Leaf>, IterDomain*>) {
      leaf = static_cast<IterDomain*>(axes.at(leaf));
    }
  });
  return fusion.new_tensor(fusion.new_tensor_domain(std::move(spec)), dtype);
}

std::vector<TensorView*> apply_to(
    const Expr& expr, ValMap operands, std::optional<DataType> dtype) {
  std::vector<TensorView*> results;
  for (const TensorView* out : tensor_outputs(&expr)) {
    results.push_back(copy_tensor(out, dtype.value_or(out->dtype()), operands));
    operands[out] = results.back();
  }
  copy_expr(expr, operands);
  return results;
}

} // namespace nvfuser::optimize
