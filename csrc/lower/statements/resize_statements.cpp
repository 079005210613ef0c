// Statements that read their operand at other positions than they write: slice, pad and repeat; and
// the choice among the operands of a cat.
#include <algorithm>

#include "eval/simplify.h"
#include "graph/domain_map.h"
#include "graph/op_semantics.h"
#include "graph/pair_graph.h"
#include "ir/scalar.h"
#include "lower/analysis/memory_layout.h"
#include "lower/statements/element_statements.h"

namespace nvfuser {
namespace {

const Resize* resize_of(const IterDomain* id) {
  return id->definition() == nullptr ? nullptr : id->definition()->as<Resize>();
}

/// Position behind the last element of what `padded`, an operand of a cat, holds along `dim`.
Val* end_of(Kernel& kernel, const TensorView* padded, size_t dim) {
  const Expr* definition = padded->definition();
  for (const LoadStoreOp* copy = nullptr; definition != nullptr &&
                                          (copy = definition->as<LoadStoreOp>()) != nullptr &&
                                          !static_cast<const TensorView*>(copy->out)->has_root();) {
    definition = copy->arg->definition();
  }
  const auto* pad = definition == nullptr ? nullptr : definition->as<PadOp>();
  if (pad == nullptr) {
    kernel.note_refusal(refuse({
        .headline = {"An operand of cat is not padded in this kernel"},
        .node = {describe(padded)},
        .expected = {"the result of a pad to the full extent, or a copy of one"},
        .found = {definition == nullptr ? "an input" : definition->op_name()},
        .fix = {"keep pad and cat in one kernel"},
    }));
    return kernel.zero();
  }
  const IterDomain* id = pad->out->logical().at(dim);
  const Resize* resize = resize_of(id);
  return resize == nullptr ? id->extent() : scalar::add(resize->in->extent(), resize->left);
}

/// Position along `root`, an axis that the statement reads, of the element at `logical`.
Val* position_of(IterDomain* root, IterDomain* logical, StatementContext& context) {
  Val* position = context.walk.index_of(logical, context.out);
  if (const Resize* resize = root == logical ? nullptr : resize_of(logical)) {
    position = scalar::sub(position, resize->left);
  }
  return context.kernel.simplifier->simplify(position);
}

/// The element of the operand of a slice or pad.
Val* element_before_resize(TensorView* producer, StatementContext& context) {
  const PairwiseDomainMap map(producer, context.out);
  const IterDomains& root = context.out->maybe_root();
  IndexWalk::Positions positions;
  for (size_t i = 0; i < root.size(); ++i) {
    IterDomain* id = map.producer_of(root[i]);
    if (id != nullptr && !id->is_broadcast()) {
      positions.emplace_back(id, position_of(root[i], context.out->logical()[i], context));
    }
  }
  return context.element_at(producer, positions);
}

} // namespace

bool reads_elsewhere(const Expr* expr) {
  if (semantics_of(*expr).read == OperandRead::Elsewhere) {
    return true;
  }
  const TensorView* out = first_output(expr);
  const std::vector<TensorView*> producers = out->producers();
  return std::any_of(producers.begin(), producers.end(), [&](const TensorView* producer) {
    return is_resized_apart(producer, out);
  });
}

Expr* convert(SliceOp& op, StatementContext& context) {
  return context.copy_to(op.out, element_before_resize(op.arg, context));
}

/// Two conditions: whether the element of the result exists is a test of the statement; whether it
/// is an element of the operand is decided here, and only then the operand is read.
Expr* convert(PadOp& op, StatementContext& context) {
  IndexSimplifier& simplifier = *context.kernel.simplifier;
  Val* inside = nullptr;
  for (size_t i = 0; i < op.out->logical().size(); ++i) {
    IterDomain* root = op.out->maybe_root()[i];
    IterDomain* logical = op.out->logical()[i];
    if (root == logical) {
      continue;
    }
    Val* position = position_of(root, logical, context);
    if (!simplifier.prove_nonnegative(position)) {
      Val* zero = context.kernel.zero();
      inside = scalar::logical_and(inside, simplifier.simplify(scalar::ge(position, zero)));
    }
    if (!simplifier.prove_lt(position, root->extent())) {
      Val* below = simplifier.simplify(scalar::lt(position, root->extent()));
      inside = scalar::logical_and(inside, below);
    }
  }
  Val* element = element_before_resize(op.arg, context);
  if (inside == nullptr) { // it only crops
    return context.copy_to(op.out, element);
  }
  Val* value = scalar::cast(op.out->dtype(), op.value);
  return context.kernel.make<ChosenElement>(
      {.out = context.result(op.out),
       .conditions = std::vector<Val*>{inside},
       .values = std::vector<Val*>{element, value}});
}

/// One choice by the position along the result. What pads an operand is never read.
Expr* convert(CatOp& op, StatementContext& context) {
  const auto dim = static_cast<size_t>(op.dim);
  Val* position = context.walk.index_of(op.out->logical().at(dim), op.out);
  std::vector<Val*> conditions;
  std::vector<Val*> values;
  for (TensorView* arg : op.args) {
    values.push_back(context.operand(arg));
    if (arg != op.args.back()) {
      conditions.push_back(context.kernel.simplifier->simplify(
          scalar::lt(position, end_of(context.kernel, arg, dim))));
    }
  }
  return context.kernel.make<ChosenElement>(
      {.out = context.result(op.out), .conditions = conditions, .values = values});
}

Expr* convert(RepeatOp& op, StatementContext& context) {
  const PairwiseDomainMap map(op.arg, op.out);
  const IterDomains axes = TensorDomain::no_reductions(op.arg->logical());
  IndexWalk::Positions positions;
  for (size_t i = 0; i < axes.size(); ++i) {
    Val* position = context.walk.index_of(op.out->logical()[i], op.out);
    if (map.consumer_of(axes[i]) == nullptr) {
      position = context.kernel.simplifier->simplify(scalar::mod(position, axes[i]->extent()));
    }
    if (!axes[i]->is_broadcast()) {
      positions.emplace_back(axes[i], position);
    }
  }
  return context.copy_to(op.out, context.element_at(op.arg, positions));
}

} // namespace nvfuser
