// Statements that read or write where an element of another tensor says. The position is an element
// of the index tensor inside the index of what is addressed: T2[i] = T0[T1[i] * 4 + j]. It is
// loaded only where the statement runs.
//
// No position leaves the tensor: a read takes the nearest element, a write is left out.
#include <algorithm>
#include <numeric>

#include "eval/simplify.h"
#include "graph/storage.h"
#include "ir/scalar.h"
#include "lower/statements/element_statements.h"

namespace nvfuser {
namespace {

/// `index`, an element or a scalar of any integer type, in 64 bits: before it is known to be in
/// range it must not be cut off.
Val* wide(Val* index) {
  return scalar::cast(DataType::Int, index);
}

/// The position in [0, extent) that is nearest to `index`. The extent is not 0: a launch with
/// positions along nothing is refused (check_index_accesses).
Val* nearest_position(Kernel& kernel, Val* index, Val* extent) {
  if (index->is_const() && kernel.simplifier->prove_lt(index, extent)) {
    return scalar::cast(DataType::Index, index); // ops::select takes none that is negative
  }
  Val* last = wide(scalar::sub(extent, kernel.one()));
  Val* nearest = kernel.new_scalar(DataType::Int);
  kernel.make<TernaryOp>(
      {.out = nearest,
       .in1 = wide(index),
       .in2 = kernel.new_constant(int64_t{0}, DataType::Int),
       .in3 = last,
       .op = TernaryOpType::Clamp});
  Val* position = scalar::cast(DataType::Index, nearest);
  kernel.simplifier->set_range(position, extent);
  return position;
}

Val* is_in_range(Kernel& kernel, Val* index, Val* extent) {
  Val* zero = kernel.new_constant(int64_t{0}, DataType::Int);
  return scalar::logical_and(scalar::ge(wide(index), zero), scalar::lt(wide(index), wide(extent)));
}

/// Copies the element of `arg` at position `index` of dimension `dim`, and where the statement
/// stands along the others. Dimension i of `arg` is out_dims[i] of `out`.
Expr* look_up(
    TensorView* out,
    TensorView* arg,
    int64_t dim,
    Val* index,
    const std::vector<int64_t>& out_dims,
    StatementContext& context) {
  const IterDomains axes = TensorDomain::no_reductions(arg->logical());
  const IterDomains& out_axes = out->logical();
  IndexWalk::Positions positions;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i]->is_broadcast()) {
      positions.emplace_back(axes[i], context.kernel.zero());
    } else if (static_cast<int64_t>(i) == dim) {
      positions.emplace_back(axes[i], nearest_position(context.kernel, index, axes[i]->extent()));
    } else {
      IterDomain* out_axis = out_axes.at(static_cast<size_t>(out_dims.at(i)));
      positions.emplace_back(axes[i], context.walk.index_of(out_axis, out));
    }
  }
  return context.copy_to(out, context.element_at(arg, positions));
}

} // namespace

Expr* convert(SelectOp& op, StatementContext& context) {
  std::vector<int64_t> out_dims;
  for (int64_t i = 0; i < op.arg->rank(); ++i) {
    out_dims.push_back(i < op.dim ? i : i - 1); // that of `dim` is not read
  }
  return look_up(op.out, op.arg, op.dim, context.operand(op.index), out_dims, context);
}

Expr* convert(IndexSelectOp& op, StatementContext& context) {
  std::vector<int64_t> out_dims(static_cast<size_t>(op.arg->rank()));
  std::iota(out_dims.begin(), out_dims.end(), int64_t{0});
  return look_up(op.out, op.arg, op.dim, context.operand(op.index), out_dims, context);
}

Expr* convert(GatherOp& op, StatementContext& context) {
  std::vector<int64_t> out_dims(static_cast<size_t>(op.arg->rank()));
  std::iota(out_dims.begin(), out_dims.end(), int64_t{0});
  return look_up(op.out, op.arg, op.dim, context.operand(op.index), out_dims, context);
}

/// A scatter begins with a copy: of an expanded dimension that would be one element.
bool can_convert(const ScatterOp& op) {
  const bool is_expanded = std::ranges::any_of(
      op.arg->logical(), [](const IterDomain* id) { return id->has_expanded_extent(); });
  return !op.accumulate && !is_expanded;
}

Expr* convert(ScatterOp& op, StatementContext& context) {
  TensorView* storage = buffer_of(op.out); // another scatter's, if that overwrites this one
  const IterDomains& axes = storage->logical();
  const IterDomains& loops = op.out->domain()->initial_loop(); // over `index`
  Val* index = context.operand(op.index);
  IndexWalk::Positions target;
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool is_addressed = static_cast<int64_t>(i) == op.dim;
    target.emplace_back(
        axes[i], is_addressed ? scalar::cast(DataType::Index, index)
                              : context.walk.index_of(loops[i], op.out));
  }
  context.condition =
      is_in_range(context.kernel, index, axes.at(static_cast<size_t>(op.dim))->extent());
  Val* src = op.src;
  if (src->is_tensor()) {
    auto* tensor = static_cast<TensorView*>(src);
    const IterDomains src_axes = TensorDomain::no_reductions(tensor->logical());
    IndexWalk::Positions source;
    for (size_t i = 0; i < src_axes.size(); ++i) {
      source.emplace_back(src_axes[i], context.walk.index_of(loops[i], op.out));
    }
    src = context.element_at(tensor, source);
  }
  src = scalar::cast(op.out->dtype(), src);
  return context.kernel.make<LoadStoreOp>(
      {.out = context.element_at(storage, target), .arg = src, .op = LoadStoreOpType::Set});
}

} // namespace nvfuser
