#include "ops/index.h"

#include "ir/index_exprs.h"
#include "ir/scalar.h"
#include "ops/cast.h"
#include "ops/operands.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

/// Positions as integers. Floats are cast: promotion makes them, in `where(mask, positions, 0.0)`.
template <typename Operand>
Operand* as_positions(Operand* index) {
  const DataType type = index->dtype();
  if (is_integral(type)) {
    return index;
  }
  if (!is_floating_point(type) || cast_text(type, DataType::Index).empty()) {
    throw UserError({
        .headline = {"Expected positions of an integer type, but got ", type},
        .node = describe(index),
        .expected = {"an integer type, or a float type that converts to one"},
        .found = {type},
        .fix = {"cast them to DataType.Int"},
    });
  }
  return static_cast<Operand*>(cast_constant(index, DataType::Index));
}

void check_in_range(const Val* index, const Val* extent) {
  const bool is_below = index->is_const() && as_int(index->value()) < 0;
  const bool is_above =
      index->is_const() && extent->is_const() && as_int(index->value()) >= as_int(extent->value());
  if (is_below || is_above) {
    throw UserError({
        .headline = {"select: position out of range"},
        .node = describe(index),
        .expected = {"0 <= position < ", extent->to_inline_string(), "; positions do not wrap"},
        .found = {index->to_inline_string()},
        .fix = {"count from the start of the dimension"},
    });
  }
}

/// `dim` of tensors that have `rank` dimensions each, counted from the start.
int64_t checked_dim(const TensorView* arg, int64_t dim, const char* name) {
  const int64_t rank = arg->rank();
  NVF_NODE_CHECK(rank > 0, arg, name, " can not be applied to 0d tensor.");
  NVF_NODE_CHECK(
      -rank <= dim && dim < rank, arg, "Tensor arguments have dimension ", rank,
      " so dim argument must satisfy ", -rank, " <= dim < ", rank, ", but received ", dim);
  return dim < 0 ? dim + rank : dim;
}

void check_same_rank(const TensorView* arg, const TensorView* index) {
  NVF_NODE_CHECK(
      arg->rank() == index->rank(), index, "Tensor arguments have different dimensions ",
      arg->rank(), " and ", index->rank());
}

/// An axis like `axis` whose elements are addressed one by one: repeated ones are no longer one.
IterDomain* addressed_axis(const IterDomain* axis, IterType type) {
  IterDomainSpec spec = copied_spec(axis);
  if (axis->has_expanded_extent()) {
    spec.extent = axis->expanded_extent();
    spec.expanded_extent = nullptr;
    spec.iter_type = IterType::Iteration;
  }
  if (spec.iter_type == IterType::Iteration) {
    spec.iter_type = type;
  }
  return Fusion::active().new_iter_domain(spec);
}

/// One tensor cannot be looked up and say where: which of its axes are which would be ambiguous.
TensorView* apart_from(TensorView* operand, const Val* other) {
  return operand == other ? set(operand) : operand;
}

bool are_provably_equal(const IterDomain* a, const IterDomain* b) {
  return a->is_broadcast() == b->is_broadcast() &&
         a->maybe_expanded_extent()->same_as(b->maybe_expanded_extent());
}

/// Both axes agree, or one of them is a broadcast: the other one, but rather that of `arg`.
IterDomain* aligned_axis(const IterDomain* arg, const IterDomain* index) {
  if (arg->is_broadcast() && !index->is_broadcast()) {
    return copy_axis(index);
  }
  IterDomainSpec spec = copied_spec(arg);
  if (!arg->is_broadcast() && !index->is_broadcast()) {
    spec.extent = agreed_extent(arg->extent(), index->extent());
  }
  return Fusion::active().new_iter_domain(spec);
}

} // namespace

TensorView* select(TensorView* arg, Val* index, int64_t dim) {
  Fusion& fusion = fusion_for({arg, index});
  NVF_NODE_CHECK(arg->rank() > 0, arg, "select can not be applied to 0d tensor.");
  index = as_positions(index);
  NVF_NODE_CHECK(
      index->is_scalar() || static_cast<const TensorView*>(index)->rank() == 0, index,
      "select takes one position: a scalar or a 0-dim tensor");
  dim = wrap_dim(arg, dim);
  check_in_range(index, arg->size(dim));
  IterDomains logical;
  const IterDomains axes = shape_axes(arg);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (static_cast<int64_t>(i) != dim) {
      logical.push_back(copy_axis(axes[i]));
    }
  }
  TensorView* out = new_tensor(logical, arg->dtype());
  fusion.make<SelectOp>({.out = out, .arg = arg, .index = index, .dim = dim});
  return out;
}

TensorView* index_select(TensorView* arg, TensorView* index, int64_t dim) {
  Fusion& fusion = fusion_for({arg, index});
  NVF_NODE_CHECK(
      arg->rank() > 0, arg, "lookup_tv argument for indexSelect cannot be a 0-D tensor.");
  index = apart_from(as_positions(index), arg);
  dim = wrap_dim(arg, dim);
  const auto position = static_cast<size_t>(dim);
  std::vector<bool> is_beside(static_cast<size_t>(arg->rank()), true);
  is_beside[position] = false;
  if (index->rank() == 0) {
    is_beside.flip();
    return broadcast(select(arg, index, dim), is_beside);
  }
  if (index->rank() == 1) {
    index = broadcast(index, is_beside);
  }
  const IterDomains index_axes = shape_axes(index);
  bool is_aligned = index_axes.size() == is_beside.size();
  for (size_t i = 0; is_aligned && i < is_beside.size(); ++i) {
    is_aligned = !is_beside[i] || index_axes[i]->is_broadcast();
  }
  NVF_NODE_CHECK(is_aligned, index, "index_tv must be a 1d or scalar tensor.");
  IterDomains logical;
  const IterDomains axes = shape_axes(arg);
  for (size_t i = 0; i < axes.size(); ++i) {
    logical.push_back(copy_axis(i == position ? index_axes[i] : axes[i]));
  }
  TensorView* out = new_tensor(logical, arg->dtype());
  fusion.make<IndexSelectOp>({.out = out, .arg = arg, .index = index, .dim = dim});
  return out;
}

TensorView* gather(TensorView* arg, TensorView* index, int64_t dim) {
  Fusion& fusion = fusion_for({arg, index});
  dim = checked_dim(arg, dim, "torch.gather");
  check_same_rank(arg, index);
  index = apart_from(as_positions(index), arg);
  IterDomains logical;
  for (const IterDomain* axis : shape_axes(index)) {
    // Along `dim`, equal positions read equal elements.
    const bool is_repeated = axis->is_broadcast() && static_cast<int64_t>(logical.size()) == dim;
    logical.push_back(
        is_repeated ? copy_axis(axis) : addressed_axis(axis, IterType::GatherScatter));
  }
  TensorView* out = new_tensor(logical, arg->dtype());
  fusion.make<GatherOp>({.out = out, .arg = arg, .index = index, .dim = dim, .exact_sizes = false});
  return out;
}

TensorView* take_along_axis(TensorView* arg, TensorView* index, int64_t dim) {
  Fusion& fusion = fusion_for({arg, index});
  dim = checked_dim(arg, dim, "take_along_axis");
  check_same_rank(arg, index);
  index = apart_from(as_positions(index), arg);
  const IterDomains axes = shape_axes(arg);
  const IterDomains index_axes = shape_axes(index);
  IterDomains logical;
  for (size_t i = 0; i < axes.size(); ++i) {
    logical.push_back(
        static_cast<int64_t>(i) == dim ? copy_axis(index_axes[i])
                                       : aligned_axis(axes[i], index_axes[i]));
  }
  TensorView* out = new_tensor(logical, arg->dtype());
  fusion.make<GatherOp>({.out = out, .arg = arg, .index = index, .dim = dim, .exact_sizes = true});
  return out;
}

TensorView* scatter(
    TensorView* arg,
    TensorView* index,
    Val* src,
    int64_t dim,
    std::optional<BinaryOpType> accumulate_op) {
  Fusion& fusion = fusion_for({arg, index, src});
  dim = checked_dim(arg, dim, "scatter");
  if (src->is_tensor()) {
    const int64_t src_rank = static_cast<const TensorView*>(src)->rank();
    NVF_NODE_CHECK(
        arg->rank() == index->rank() && arg->rank() == src_rank, index,
        "Tensor arguments have different dimensions ", arg->rank(), ", ", index->rank(), " and ",
        src_rank);
  }
  check_same_rank(arg, index);
  index = apart_from(as_positions(index), arg);
  if (src->is_tensor()) {
    src = apart_from(apart_from(static_cast<TensorView*>(src), arg), index);
  }
  const IterDomains axes = shape_axes(arg);
  const IterDomains index_axes = shape_axes(index);
  bool exact_sizes = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    exact_sizes = exact_sizes &&
                  (static_cast<int64_t>(i) == dim || are_provably_equal(axes[i], index_axes[i]));
  }
  // The shape is that of `arg`, the loops run over `index`.
  TensorDomainSpec spec;
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool is_shared = exact_sizes && static_cast<int64_t>(i) != dim;
    spec.logical.push_back(addressed_axis(axes[i], IterType::GatherScatter));
    spec.loop.push_back(
        is_shared ? spec.logical.back() : addressed_axis(index_axes[i], IterType::Iteration));
  }
  TensorView* out = new_tensor(std::move(spec), arg->dtype());
  fusion.make<ScatterOp>(
      {.out = out,
       .arg = arg,
       .index = index,
       .src = src,
       .dim = dim,
       .exact_sizes = exact_sizes,
       .accumulate = accumulate_op.has_value(),
       .accumulate_op = accumulate_op.value_or(BinaryOpType::Add)});
  return out;
}

TensorView* index_put_accumulate(TensorView* arg, TensorView* index, TensorView* value) {
  Fusion& fusion = fusion_for({arg, index, value});
  const bool is_column = index->rank() == 2 && shape_axes(index).back()->is_broadcast();
  NVF_NODE_CHECK(
      index->rank() == 1 || is_column, index,
      "index_put_accumulate: row numbers are [n] or [n, 1]");
  NVF_NODE_CHECK(
      arg->rank() > 0 && arg->rank() == value->rank(), value,
      "Tensor arguments have different dimensions ", arg->rank(), " and ", value->rank());
  index = as_positions(index);
  IterDomains logical;
  for (const IterDomain* axis : shape_axes(arg)) {
    logical.push_back(addressed_axis(axis, IterType::Iteration));
  }
  TensorView* out = new_tensor(logical, arg->dtype());
  fusion.make<IndexPutAccumulateOp>({.out = out, .arg = arg, .index = index, .value = value});
  return out;
}

TensorView* embedding_fwd(TensorView* arg, TensorView* weight, const EmbeddingOptions& options) {
  Fusion& fusion = fusion_for({arg, weight});
  for (const Val* option :
       {options.padding_idx, options.max_norm, options.norm_type, options.scale_grad_by_freq,
        options.sparse}) {
    if (option != nullptr) {
      fusion.check_contains(option);
    }
  }
  NVF_NODE_CHECK(arg->rank() > 0, arg, "Expected input to be atleast 1D, got: ", arg->rank());
  NVF_NODE_CHECK(weight->rank() == 2, weight, "Expected weight to be 2D, got: ", weight->rank());
  arg = as_positions(arg);
  IterDomains logical = copy_axes(shape_axes(arg));
  logical.push_back(copy_axis(shape_axes(weight).back()));
  const auto given_or = [&](Val* option, const ScalarValue& value, DataType dtype) {
    return option != nullptr ? option : fusion.new_constant(value, dtype);
  };
  TensorView* out = new_tensor(logical, weight->dtype());
  Val* norm_type = given_or(options.norm_type, 2.0, DataType::Double);
  Val* scale_grad_by_freq = given_or(options.scale_grad_by_freq, false, DataType::Bool);
  Val* sparse = given_or(options.sparse, false, DataType::Bool);
  fusion.make<EmbeddingFwdOp>(
      {.out = out,
       .arg = arg,
       .weight = weight,
       .norm_type = norm_type,
       .scale_grad_by_freq = scale_grad_by_freq,
       .sparse = sparse,
       .padding_idx = options.padding_idx,
       .max_norm = options.max_norm});
  return out;
}

} // namespace nvfuser::ops
