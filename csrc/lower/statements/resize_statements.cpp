// Statements that read their operand at other positions than they write: slice, pad and repeat; and
// the choice among the operands of a cat.
#include <algorithm>

#include "eval/simplify.h"
#include "graph/domain_map.h"
#include "graph/op_semantics.h"
#include "graph/pair_graph.h"
#include "graph/storage.h"
#include "ir/scalar.h"
#include "lower/analysis/memory_layout.h"
#include "lower/statements/element_statements.h"

namespace nvfuser {
namespace {

const Resize* resize_of(const IterDomain* id) {
  return id->definition() == nullptr ? nullptr : id->definition()->as<Resize>();
}

/// The pad that `padded`, an operand of a cat, is the result of, or a copy of.
const PadOp* pad_of(const TensorView* padded) {
  const Expr* definition = padded->definition();
  for (const LoadStoreOp* copy = nullptr; definition != nullptr &&
                                          (copy = definition->as<LoadStoreOp>()) != nullptr &&
                                          !static_cast<const TensorView*>(copy->out)->has_root();) {
    definition = copy->arg->definition();
  }
  return definition == nullptr ? nullptr : definition->as<PadOp>();
}

/// Positions along `dim` of the first element of what a pad surrounds, and behind the last one.
struct PaddedPart {
  Val* begin;
  Val* end;
};
PaddedPart part_within(Kernel& kernel, const PadOp& pad, size_t dim) {
  const IterDomain* id = pad.out->logical().at(dim);
  const Resize* resize = resize_of(id);
  return resize == nullptr
             ? PaddedPart{kernel.zero(), id->extent()}
             : PaddedPart{resize->left, scalar::add(resize->in->extent(), resize->left)};
}

/// Position behind the last element of what `padded`, an operand of a cat, holds along `dim`.
Val* end_of(Kernel& kernel, const TensorView* padded, size_t dim) {
  const PadOp* pad = pad_of(padded);
  if (pad == nullptr) {
    const Expr* definition = padded->definition();
    kernel.note_refusal(refuse({
        .headline = {"An operand of cat is not padded in this kernel"},
        .node = {describe(padded)},
        .expected = {"the result of a pad to the full extent, or a copy of one"},
        .found = {definition == nullptr ? "an input" : definition->op_name()},
        .fix = {"keep pad and cat in one kernel"},
    }));
    return kernel.zero();
  }
  return part_within(kernel, *pad, dim).end;
}

/// Position along `root` of the element that is at the statement's position along `logical`, which
/// is dimension `dim` of its result or of a tensor with the same shape.
Val* position_of(IterDomain* root, IterDomain* logical, size_t dim, StatementContext& context) {
  Val* position = context.walk.index_of(context.out->logical()[dim], context.out);
  if (const Resize* resize = root == logical ? nullptr : resize_of(logical)) {
    position = scalar::sub(position, resize->left);
  }
  return context.kernel.simplifier->simplify(position);
}

/// The element of `producer`, the operand of a slice or pad, that is the result's at the position
/// of the statement. `resized`: that result, or a tensor that the statement computes instead of it.
Val* element_before_resize(
    TensorView* producer, const TensorView* resized, StatementContext& context) {
  const PairwiseDomainMap map(producer, resized);
  const IterDomains& root = resized->maybe_root();
  IndexWalk::Positions positions;
  for (size_t i = 0; i < root.size(); ++i) {
    IterDomain* id = map.producer_of(root[i]);
    if (id != nullptr) { // the loops need not lead to the one position of a broadcast
      Val* position = id->is_broadcast() ? context.kernel.zero()
                                         : position_of(root[i], resized->logical()[i], i, context);
      positions.emplace_back(id, position);
    }
  }
  return context.element_at(producer, positions);
}

/// Whether `size`, which may be the name of a sum, is `sum`.
bool is_equal_size(const Kernel& kernel, Val* size, Val* sum) {
  const bool is_name = std::ranges::find(kernel.size_names, size) != kernel.size_names.end();
  Val* value = is_name ? size->definition()->as<LoadStoreOp>()->arg : size;
  return kernel.simplifier->prove_equal(value, sum);
}

bool is_updated(const Kernel& kernel, const TensorView* input) {
  return std::ranges::any_of(
      kernel.outputs(), [&](const Val* output) { return updated_input(output) == input; });
}

/// Whether no axis of `out` is a part of an instruction.
bool is_scalar_statement(const TensorView* out) {
  return std::ranges::none_of(
      out->loop(), [](const IterDomain* id) { return is_instruction(id->parallel_type()); });
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
  return context.copy_to(op.out, element_before_resize(op.arg, op.out, context));
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
    Val* position = position_of(root, logical, i, context);
    if (!simplifier.prove_nonnegative(position)) {
      Val* zero = context.kernel.zero();
      inside = scalar::logical_and(inside, simplifier.simplify(scalar::ge(position, zero)));
    }
    if (!simplifier.prove_lt(position, root->extent())) {
      Val* below = simplifier.simplify(scalar::lt(position, root->extent()));
      inside = scalar::logical_and(inside, below);
    }
  }
  Val* element = element_before_resize(op.arg, op.out, context);
  if (inside == nullptr) { // it only crops
    return context.copy_to(op.out, element);
  }
  Val* value = scalar::cast(op.out->dtype(), op.value);
  return context.kernel.make<ChosenElement>(
      {.out = context.result(op.out),
       .conditions = std::vector<Val*>{inside},
       .values = std::vector<Val*>{element, value}});
}

/// A cat that reads an input where it would read it padded has no need of the pad.
bool is_read_through(Kernel& kernel, const Expr* expr) {
  const auto* pad = expr->as<PadOp>();
  if (pad == nullptr || pad->out->is_fusion_output() || !pad->arg->is_fusion_input() ||
      pad->out->memory_type() != MemoryType::Local || is_updated(kernel, pad->arg) ||
      pad->arg->is_cpu_scalar()) {
    return false;
  }
  const std::vector<Expr*>& uses = pad->out->uses();
  const auto* cat = uses.size() == 1 ? uses.front()->as<CatOp>() : nullptr;
  if (cat == nullptr || !is_scalar_statement(pad->out) || !is_scalar_statement(cat->out)) {
    return false;
  }
  const auto dim = static_cast<size_t>(cat->dim);
  for (size_t i = 0; i < pad->out->logical().size(); ++i) {
    if (i != dim && resize_of(pad->out->logical()[i]) != nullptr) {
      return false; // what surrounds it there is read
    }
  }
  // Its part begins where that of the operand before it ends, and the last one is the end.
  const auto place = std::ranges::find(cat->args, pad->out);
  const PaddedPart part = part_within(kernel, *pad, dim);
  Val* begin = place == cat->args.begin() ? kernel.zero() : end_of(kernel, *std::prev(place), dim);
  return is_equal_size(kernel, part.begin, begin) &&
         (std::next(place) != cat->args.end() ||
          is_equal_size(kernel, pad->out->logical()[dim]->extent(), part.end));
}

/// One choice by the position along the result; a condition that holds makes all later ones hold.
/// The padding of an operand is never read.
Expr* convert(CatOp& op, StatementContext& context) {
  Kernel& kernel = context.kernel;
  const auto dim = static_cast<size_t>(op.dim);
  Val* position = context.walk.index_of(op.out->logical().at(dim), op.out);
  std::vector<Val*> conditions;
  std::vector<Val*> values;
  for (size_t i = 0; i < op.args.size(); ++i) {
    TensorView* arg = op.args[i];
    const auto* pad = arg->definition()->as<PadOp>();
    const bool reads_operand = is_read_through(kernel, arg->definition());
    if (i > 0) {
      Val* end = reads_operand ? part_within(kernel, *pad, dim).begin // the same, maybe with a name
                               : end_of(kernel, op.args[i - 1], dim);
      conditions.push_back(kernel.simplifier->simplify(scalar::lt(position, end)));
    }
    values.push_back(
        reads_operand ? element_before_resize(pad->arg, arg, context) : context.operand(arg));
  }
  return kernel.make<ChosenElement>(
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
    positions.emplace_back(axes[i], axes[i]->is_broadcast() ? context.kernel.zero() : position);
  }
  return context.copy_to(op.out, context.element_at(op.arg, positions));
}

} // namespace nvfuser
