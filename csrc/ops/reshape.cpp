#include "ops/reshape.h"

#include <algorithm>
#include <numeric>

#include "ir/domain_exprs.h"
#include "ir/pointwise.h"
#include "ir/scalar.h"
#include "ir/shape_exprs.h"
#include "ops/create.h"
#include "ops/operands.h"
#include "ops/reshape_walk.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

/// Sizes as products; equal symbols get equal numbers.
class SizeTable {
 public:
  SizeProduct product_of(const Val* size) {
    if (size->is_const_int()) {
      return {.constant = as_int(size->value()), .unknowns = {}};
    }
    if (const Expr* definition = size->definition()) {
      const auto* binary = definition->as<BinaryOp>();
      if (binary != nullptr && binary->op == BinaryOpType::Mul) {
        return product_of(binary->lhs) * product_of(binary->rhs);
      }
      if (binary != nullptr &&
          (binary->op == BinaryOpType::CeilDiv || binary->op == BinaryOpType::Div)) {
        const SizeProduct divisor = product_of(binary->rhs);
        const auto quotient =
            divisor.is_constant(0) ? std::nullopt : divide(product_of(binary->lhs), divisor);
        if (quotient.has_value()) {
          return *quotient;
        }
      }
      const auto* unary = definition->as<UnaryOp>();
      if (unary != nullptr && unary->op == UnaryOpType::Cast && is_integral(unary->arg->dtype())) {
        return product_of(unary->arg);
      }
    }
    return {.constant = 1, .unknowns = {number_of(size)}};
  }

 private:
  int number_of(const Val* size) {
    auto found = std::find_if(
        unknowns_.begin(), unknowns_.end(), [&](const Val* known) { return known->same_as(size); });
    if (found == unknowns_.end()) {
      found = unknowns_.insert(found, size);
    }
    return static_cast<int>(found - unknowns_.begin());
  }

  std::vector<const Val*> unknowns_;
};

std::string shape_text(const std::vector<Val*>& shape) {
  std::string out = "[";
  for (const Val* size : shape) {
    out += (out.size() == 1 ? "" : ", ") + size->to_inline_string();
  }
  return out + "]";
}

void check_operand(const TensorView* arg) {
  for (const IterDomain* axis : shape_axes(arg)) {
    NVF_USER_CHECK(
        axis->stop_offset()->is_zero() && axis->start()->is_zero(),
        "Unsupported input tensor to reshape as its axes may be partial: ", describe(arg));
  }
}

[[noreturn]] void throw_counts_differ(
    const TensorView* arg,
    const std::vector<Val*>& new_shape,
    const SizeProduct& old_count,
    const SizeProduct& new_count) {
  throw UserError({
      .headline =
          {"Total element counts across view operation must match: ", old_count.constant, " vs ",
           new_count.constant, ", reshaping ", shape_text(arg->shape()), " to ",
           shape_text(new_shape)},
      .node = describe(arg),
      .expected = {old_count.constant, " elements"},
      .found = {new_count.constant, " elements"},
      .fix = {"give -1 for one size to have it worked out"},
  });
}

[[noreturn]] void throw_undecided(const TensorView* arg, const std::vector<Val*>& new_shape) {
  throw UserError(
      {
          .headline =
              {"Cannot reshape ", shape_text(arg->shape()), " to ", shape_text(new_shape),
               " without knowing the sizes"},
          .node = describe(arg),
          .expected = {"constant sizes, or new sizes that are products of the operand's sizes and "
                       "constants that divide them"},
          .found = {shape_text(new_shape)},
          .fix = {"define the tensor with constant sizes (static_sizes=True)"},
      },
      ErrorKind::NotImplemented);
}

/// What the caller asked for, as products. `inferred`: the position of -1.
struct NewSizes {
  std::vector<SizeProduct> sizes;
  std::optional<size_t> inferred;
};

NewSizes read_sizes(const std::vector<Val*>& new_shape, SizeTable& table) {
  NewSizes result;
  for (size_t i = 0; i < new_shape.size(); ++i) {
    const Val* size = new_shape[i];
    static_cast<void>(as_extent(new_shape[i]));
    if (size->is_const_int(-1)) {
      NVF_USER_CHECK(
          !result.inferred.has_value(),
          "A maximum of one value of -1 can be provided to reshape. Only one dimension can be "
          "inferred.");
      result.inferred = i;
      result.sizes.emplace_back();
      continue;
    }
    NVF_USER_CHECK(
        !size->is_const_int() || as_int(size->value()) >= 0, "The value ", size->to_inline_string(),
        " at index ", i,
        " was neither symbolic(-1), zero_element(0), broadcast(1), or static(>1).");
    result.sizes.push_back(table.product_of(size));
  }
  return result;
}

/// An operand without elements has nothing to rearrange.
TensorView* reshape_empty(TensorView* arg, const std::vector<Val*>& new_shape) {
  std::vector<Val*> sizes = new_shape;
  bool has_zero = false;
  for (Val*& size : sizes) {
    size = size->is_const_int(-1) ? arg->fusion()->zero() : size;
    has_zero = has_zero || size->is_const_int(0);
  }
  NVF_USER_CHECK(
      has_zero,
      "Output shape must have at least one 0 when input shape does. Operand: ", describe(arg),
      ", new shape: ", shape_text(new_shape));
  return zeros(sizes, arg->dtype());
}

/// Per axis of the operand: whether a merge or split reads it.
std::vector<bool> touched_axes(size_t rank, const std::vector<ReshapeStep>& steps) {
  std::vector<std::vector<size_t>> working(rank); // the axes that each working one is made from
  for (size_t i = 0; i < rank; ++i) {
    working[i] = {i};
  }
  std::vector<bool> is_touched(rank, false);
  for (const ReshapeStep& step : steps) {
    const auto at = working.begin() + step.position;
    if (step.kind == ReshapeStep::Kind::Merge) {
      at->insert(at->end(), (at + 1)->begin(), (at + 1)->end());
      working.erase(at + 1);
    } else {
      working.insert(at, *at);
    }
    for (const size_t axis : working.at(static_cast<size_t>(step.position))) {
      is_touched[axis] = true;
    }
  }
  return is_touched;
}

void apply_step(const ReshapeStep& step, IterDomains& axes) {
  const auto at = axes.begin() + step.position;
  if (step.kind == ReshapeStep::Kind::Merge) {
    *at = merge_ids(*at, *(at + 1), /*is_rfactor=*/true);
    axes.erase(at + 1);
    return;
  }
  const bool is_inner = step.kind == ReshapeStep::Kind::InnerSplit;
  Val* factor = Fusion::active().new_index(step.factor);
  const auto [outer, inner] = split_id(*at, factor, is_inner, /*is_rfactor=*/true);
  *at = inner;
  axes.insert(at, outer);
}

/// Let an axis have the caller's own size where the transforms computed an equal one, so that who
/// reads both sees one value.
void use_given_sizes(const IterDomains& axes, const std::vector<Val*>& sizes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    Val* size = sizes.at(i);
    if (axes[i]->definition() != nullptr && size->same_as(axes[i]->extent())) {
      axes[i]->assign_extents(size, axes[i]->expanded_extent());
    }
  }
}

/// The ReshapeOp that merges and splits axes of `arg`, whose result has these sizes.
TensorView* transform(
    TensorView* arg, const std::vector<ReshapeStep>& steps, const std::vector<Val*>& sizes) {
  const IterDomains axes = shape_axes(arg);
  const std::vector<bool> is_touched = touched_axes(axes.size(), steps);
  TensorDomainSpec spec;
  for (size_t i = 0; i < axes.size(); ++i) {
    spec.root.push_back(copy_axis(axes[i], is_touched[i]));
  }
  spec.logical = spec.root;
  for (const ReshapeStep& step : steps) {
    apply_step(step, spec.logical);
  }
  use_given_sizes(spec.logical, sizes);
  TensorView* out = new_tensor(std::move(spec), arg->dtype());
  Fusion::active().make<ReshapeOp>(out, arg);
  return out;
}

/// Remove dimensions of size one. Unlike `squeeze`, also ordinary ones: a shape without dimensions
/// has no other that could take them in.
TensorView* squeeze_ones(TensorView* arg, const std::vector<int64_t>& dims) {
  const IterDomains axes = shape_axes(arg);
  std::vector<bool> flags(axes.size(), false);
  for (const int64_t dim : dims) {
    flags.at(static_cast<size_t>(dim)) = true;
  }
  IterDomains logical;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!flags[i]) {
      logical.push_back(copy_axis(axes[i]));
    }
  }
  TensorView* out = new_tensor(logical, arg->dtype());
  Fusion::active().make<SqueezeOp>(out, arg, flags);
  return out;
}

TensorView* apply_walk(
    TensorView* arg, const ReshapeWalk& walk, const std::vector<Val*>& new_shape) {
  std::vector<bool> is_new(new_shape.size(), false);
  for (const int64_t dim : walk.broadcasts) {
    is_new.at(static_cast<size_t>(dim)) = true;
  }
  TensorView* result = arg;
  if (!walk.squeezes.empty()) {
    result = squeeze_ones(result, walk.squeezes);
  }
  if (!walk.transforms.empty()) {
    std::vector<Val*> sizes;
    for (size_t i = 0; i < new_shape.size(); ++i) {
      if (!is_new[i]) {
        sizes.push_back(new_shape[i]);
      }
    }
    result = transform(result, walk.transforms, sizes);
  }
  return broadcast(result, is_new);
}

std::vector<WalkDim> walk_dims(const TensorView* arg, SizeTable& table) {
  std::vector<WalkDim> dims;
  for (const IterDomain* axis : shape_axes(arg)) {
    const SizeProduct size = table.product_of(axis->maybe_expanded_extent());
    const bool may_go = (axis->is_broadcast() && !axis->has_expanded_extent()) ||
                        (axis->is_symbolic_axis() && size.is_constant(1));
    dims.push_back({.size = size, .is_removable = may_go});
  }
  return dims;
}

} // namespace

TensorView* reshape(TensorView* arg, const std::vector<Val*>& new_shape) {
  fusion_for({arg});
  fusion_for(new_shape);
  check_operand(arg);
  SizeTable table;
  const std::vector<WalkDim> old_dims = walk_dims(arg, table);
  std::vector<SizeProduct> old_sizes;
  for (const WalkDim& dim : old_dims) {
    old_sizes.push_back(dim.size);
  }
  const SizeProduct old_count = product_of(old_sizes);
  NewSizes wanted = read_sizes(new_shape, table);
  if (old_count.constant == 0) {
    return reshape_empty(arg, new_shape);
  }

  const auto is_constant = [](const SizeProduct& size) { return size.is_constant(); };
  const bool is_static =
      old_count.is_constant() && std::all_of(wanted.sizes.begin(), wanted.sizes.end(), is_constant);
  if (wanted.inferred.has_value()) {
    const std::optional<SizeProduct> rest = divide(old_count, product_of(wanted.sizes));
    if (!rest.has_value() && !is_static) {
      throw_undecided(arg, new_shape);
    }
    NVF_USER_CHECK(
        rest.has_value(), "Cannot infer the actual size of -1 output domain: ", old_count.constant,
        " elements of ", describe(arg), " under ", shape_text(new_shape));
    wanted.sizes[*wanted.inferred] = *rest;
  }
  const SizeProduct new_count = product_of(wanted.sizes);
  if (is_static) {
    NVF_USER_CHECK(
        !old_dims.empty() || new_count.is_constant(1),
        "Zero-dim tensors may only be reshaped to tensors with a single element, but got ",
        shape_text(new_shape));
    if (old_count != new_count) {
      throw_counts_differ(arg, new_shape, old_count, new_count);
    }
  }
  if (old_sizes == wanted.sizes) {
    return set(arg);
  }
  const std::optional<ReshapeWalk> walk =
      old_count == new_count ? walk_reshape(old_dims, wanted.sizes) : std::nullopt;
  NVF_INVARIANT(walk.has_value() || !is_static, "constant shapes have a walk: ", describe(arg));
  if (!walk.has_value()) {
    throw_undecided(arg, new_shape);
  }
  return apply_walk(arg, *walk, new_shape);
}

TensorView* reshape(
    TensorView* arg,
    const std::vector<int64_t>& original_shape,
    const std::vector<int64_t>& new_shape) {
  Fusion& fusion = fusion_for({arg});
  NVF_USER_CHECK(
      static_cast<int64_t>(original_shape.size()) == arg->rank(),
      "reshape: original_shape has rank ", original_shape.size(), ", but the operand has rank ",
      arg->rank(), ".");
  NVF_USER_CHECK(
      std::count(new_shape.begin(), new_shape.end(), -1) <= 1,
      "Only one dimension can by inferred");
  std::vector<Val*> sizes;
  for (const int64_t size : new_shape) {
    sizes.push_back(fusion.new_index(size));
  }
  const std::vector<Val*> actual = arg->shape();
  for (size_t i = 0; i < actual.size(); ++i) {
    if (!actual[i]->is_const_int()) { // the given size would have to be checked at every execution
      throw_undecided(arg, sizes);
    }
    NVF_USER_CHECK(
        as_int(actual[i]->value()) == original_shape[i], "reshape: original_shape says ",
        original_shape[i], " for dimension ", i, ", but its size is ",
        actual[i]->to_inline_string(), ".");
  }
  return reshape(arg, sizes);
}

TensorView* flatten(TensorView* arg, int64_t start_dim, int64_t end_dim) {
  fusion_for({arg});
  const int64_t rank = std::max<int64_t>(arg->rank(), 1);
  const int64_t start = start_dim < 0 ? start_dim + rank : start_dim;
  const int64_t end = end_dim < 0 ? end_dim + rank : end_dim;
  NVF_USER_CHECK(start >= 0 && start < rank, "Invalid start_dim ", start_dim, " for rank ", rank);
  NVF_USER_CHECK(end >= 0 && end < rank, "Invalid end_dim ", end_dim, " for rank ", rank);
  NVF_USER_CHECK(start <= end, "start_dim must be <= end_dim, but got ", start, " and ", end);
  if (arg->rank() == 0) {
    return broadcast(arg, {true});
  }
  if (start == end) {
    return arg;
  }
  std::vector<Val*> sizes = arg->shape();
  Val* merged = std::accumulate(
      sizes.begin() + start + 1, sizes.begin() + end + 1, sizes[static_cast<size_t>(start)],
      scalar::mul);
  sizes.erase(sizes.begin() + start + 1, sizes.begin() + end + 1);
  sizes[static_cast<size_t>(start)] = merged;
  return reshape(arg, sizes);
}

} // namespace nvfuser::ops
