#include "ops/reshape.h"

#include <algorithm>
#include <numeric>

#include "ir/pointwise.h"
#include "ir/sampled_sizes.h"
#include "ir/scalar.h"
#include "ops/cast.h"
#include "ops/create.h"
#include "ops/operands.h"
#include "ops/reshape_nodes.h"
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
    NVF_NODE_CHECK(
        axis->stop_offset()->is_zero() && axis->start()->is_zero(), arg,
        "Unsupported input tensor to reshape as its axes may be partial");
  }
}

/// For constant shapes.
void check_counts(
    const TensorView* arg,
    const std::vector<Val*>& new_shape,
    const SizeProduct& old_count,
    const SizeProduct& new_count) {
  NVF_NODE_CHECK(
      arg->rank() > 0 || new_count.is_constant(1), arg,
      "Zero-dim tensors may only be reshaped to tensors with a single element, but got ",
      shape_text(new_shape));
  if (old_count != new_count) {
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
}

/// The sizes that the caller asked for, as products. `inferred`: the position of -1.
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

/// Real scalars as integers; `as_extent` refuses what is none.
std::vector<Val*> whole_sizes(std::vector<Val*> sizes) {
  for (Val*& size : sizes) {
    const bool is_real = is_floating_point(size->dtype()) || is_boolean(size->dtype());
    size = size->is_scalar() && is_real ? cast_constant(size, DataType::Index) : size;
  }
  return sizes;
}

/// An operand without elements has nothing to rearrange.
TensorView* reshape_empty(TensorView* arg, const std::vector<Val*>& new_shape) {
  std::vector<Val*> sizes = new_shape;
  bool has_zero = false;
  for (Val*& size : sizes) {
    size = size->is_const_int(-1) ? arg->fusion()->zero() : size;
    has_zero = has_zero || size->is_const_int(0);
  }
  NVF_NODE_CHECK(
      has_zero, arg,
      "Output shape must have at least one 0 when input shape does. Operand: ", describe(arg),
      ", new shape: ", shape_text(new_shape));
  return zeros(sizes, arg->dtype());
}

/// One node whose merges and splits follow from the sizes of an execution.
TensorView* reshape_dynamic(
    TensorView* arg, const std::vector<Val*>& new_shape, const NewSizes& wanted) {
  Fusion& fusion = *arg->fusion();
  TensorDomainSpec spec;
  Val* count = fusion.one();
  for (const IterDomain* axis : shape_axes(arg)) {
    spec.root.push_back(copy_axis(axis));
    count = scalar::mul(count, axis->maybe_expanded_extent());
  }
  std::vector<Val*> extents;
  Val* others = nullptr;
  for (size_t i = 0; i < new_shape.size(); ++i) {
    Val* extent = as_extent(new_shape[i]);
    extents.push_back(extent);
    if (i != wanted.inferred) {
      // The quotient is written with the scalars that were given, where those are wide enough.
      Val* size = new_shape[i]->dtype() == DataType::Int ? new_shape[i] : extent;
      others = others == nullptr ? size : scalar::mul(others, size);
    }
  }
  if (wanted.inferred.has_value()) {
    // A size of 0 is right for an operand without elements alone, where -1 means 0 as well.
    const bool is_empty =
        std::ranges::any_of(new_shape, [](const Val* size) { return size->is_const_int(0); });
    if (is_empty) {
      extents[*wanted.inferred] = fusion.zero();
    } else {
      extents[*wanted.inferred] = others == nullptr ? count : scalar::div(count, others);
    }
  }
  for (Val* extent : extents) {
    spec.logical.push_back(fusion.new_iter_domain(
        {.extent = extent, .iter_type = IterType::Symbolic, .is_rfactor = true}));
  }
  TensorView* out = new_tensor(std::move(spec), arg->dtype());
  fusion.make<ReshapeOp>({.out = out, .arg = arg});
  return out;
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

/// Whether the axes themselves are undecided: which of them go depends on what they become.
bool has_symbolic_axis(const TensorView* arg) {
  const IterDomains axes = shape_axes(arg);
  return std::ranges::any_of(axes, &IterDomain::is_symbolic_axis);
}

void check_steps(
    const TensorView* arg,
    const std::vector<Val*>& new_shape,
    const std::vector<ReshapeStep>& steps) {
  const std::optional<int64_t> rank = rank_after(arg->rank(), steps);
  if (rank == std::ssize(new_shape)) {
    return;
  }
  const ReshapeWalk walk{.squeezes = {}, .transforms = steps, .broadcasts = {}};
  throw UserError(
      {.headline = "The steps of a reshape do not lead to its shape",
       .node = describe(arg),
       .expected =
           {"merges and splits from ", arg->rank(), " to ", new_shape.size(), " dimensions"},
       .found = {to_string(walk), ", for the shape ", shape_text(new_shape)},
       .fix = "take the steps from explain_reshape(old_shape, new_shape).transforms"});
}

/// Let an axis that steps made, or whose size was computed, have the constant that the caller knows
/// its size to be, which a launch checks. The other sizes are those that the steps make.
void set_sizes_of_steps(TensorView* out, const std::vector<Val*>& new_shape) {
  SampledSizes samples;
  for (size_t i = 0; i < new_shape.size(); ++i) {
    IterDomain* axis = out->logical()[i];
    Val* size = new_shape[i];
    const bool is_computed =
        axis->definition() != nullptr || axis->extent()->definition() != nullptr;
    const bool is_known = is_computed && !axis->extent()->is_const_int() && size->is_const_int() &&
                          as_int(size->value()) > 0;
    if (!is_known && samples.of(size) != samples.of(axis->maybe_expanded_extent())) {
      throw UserError(
          {.headline = "The steps of a reshape do not make the sizes of its shape",
           .node = describe(out),
           .expected = {axis->maybe_expanded_extent()->to_inline_string(), " for dimension ", i},
           .found = {size->to_inline_string()},
           .fix = "give the sizes that the steps make, or no steps"});
    }
    if (is_known) {
      axis->assign_extents(as_extent(size), nullptr);
    }
  }
}

/// The new sizes of the old spelling. A dimension that the walk between the two lists leaves as it
/// is has the operand's own size; the others have the sizes listed, so that an operand of another
/// size has another number of elements.
std::vector<Val*> sizes_of_lists(
    const std::vector<int64_t>& original_shape,
    const std::vector<int64_t>& new_shape,
    const IterDomains& axes) {
  Fusion& fusion = Fusion::active();
  std::vector<Val*> sizes;
  for (const int64_t size : new_shape) {
    sizes.push_back(fusion.new_index(size));
  }
  const auto number = [](int64_t size) { return SizeProduct{.constant = size, .unknowns = {}}; };
  std::vector<WalkDim> old_dims;
  SizeProduct old_count;
  for (size_t i = 0; i < axes.size(); ++i) {
    old_dims.push_back(
        {.size = number(original_shape[i]), .is_removable = axes[i]->is_implicit_broadcast()});
    old_count = old_count * old_dims.back().size;
  }
  SizeProduct known_count; // without the size that -1 stands for
  for (const int64_t size : new_shape) {
    known_count = known_count * number(size == -1 ? 1 : size);
  }
  std::vector<SizeProduct> new_sizes;
  for (const int64_t size : new_shape) {
    const std::optional<SizeProduct> rest =
        size == -1 ? divide(old_count, known_count) : std::nullopt;
    new_sizes.push_back(rest.value_or(number(size)));
  }
  if (old_count.is_constant(0) || product_of(new_sizes) != old_count) {
    return sizes; // no walk: `reshape` says what is wrong, or there is nothing to rearrange
  }
  const std::optional<ReshapeWalk> walk = walk_reshape(old_dims, new_sizes);
  const std::vector<int64_t> kept = kept_dims(axes.size(), walk.value());
  for (size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = kept[i] < 0 ? fusion.new_index(new_sizes[i].constant)
                           : axes[static_cast<size_t>(kept[i])]->maybe_expanded_extent();
  }
  return sizes;
}

} // namespace

TensorView* reshape(TensorView* arg, const std::vector<Val*>& sizes) {
  fusion_for({arg});
  fusion_for(sizes);
  const std::vector<Val*> new_shape = whole_sizes(sizes);
  check_operand(arg);
  SizeTable table;
  const std::vector<WalkDim> old_dims = walk_dims(arg, table);
  std::vector<SizeProduct> old_sizes;
  for (const WalkDim& dim : old_dims) {
    old_sizes.push_back(dim.size);
  }
  const SizeProduct old_count = product_of(old_sizes);
  NewSizes wanted = read_sizes(new_shape, table);
  const auto is_constant = [](const SizeProduct& size) { return size.is_constant(); };
  const bool is_static =
      old_count.is_constant() && std::all_of(wanted.sizes.begin(), wanted.sizes.end(), is_constant);
  if (old_count.constant == 0) {
    const bool may_have_zero = !is_static && product_of(wanted.sizes).constant != 0;
    return may_have_zero ? reshape_dynamic(arg, new_shape, wanted) : reshape_empty(arg, new_shape);
  }
  const bool is_undecided = !is_static && has_symbolic_axis(arg);
  if (wanted.inferred.has_value()) {
    const std::optional<SizeProduct> rest = divide(old_count, product_of(wanted.sizes));
    if (!rest.has_value() && !is_static) {
      return reshape_dynamic(arg, new_shape, wanted);
    }
    NVF_NODE_CHECK(
        rest.has_value(), arg,
        "Cannot infer the actual size of -1 output domain: ", old_count.constant, " elements of ",
        describe(arg), " under ", shape_text(new_shape));
    wanted.sizes[*wanted.inferred] = *rest;
  }
  const SizeProduct new_count = product_of(wanted.sizes);
  if (is_static) {
    check_counts(arg, new_shape, old_count, new_count);
  }
  if (old_sizes == wanted.sizes) {
    return set(arg);
  }
  const std::optional<ReshapeWalk> walk =
      old_count == new_count && !is_undecided ? walk_reshape(old_dims, wanted.sizes) : std::nullopt;
  NVF_INVARIANT(walk.has_value() || !is_static, "constant shapes have a walk: ", describe(arg));
  if (!walk.has_value()) {
    return reshape_dynamic(arg, new_shape, wanted);
  }
  return apply_walk(arg, *walk, new_shape);
}

TensorView* reshape(
    TensorView* arg, const std::vector<Val*>& new_shape, const std::vector<ReshapeStep>& steps) {
  fusion_for({arg});
  fusion_for(new_shape);
  check_operand(arg);
  check_steps(arg, new_shape, steps);
  const std::vector<Val*> sizes = whole_sizes(new_shape);
  TensorView* result =
      apply_walk(arg, {.squeezes = {}, .transforms = steps, .broadcasts = {}}, sizes);
  TensorView* out = result == arg ? set(arg) : result;
  set_sizes_of_steps(out, sizes);
  return out;
}

bool follows_from_sizes(const ReshapeOp& op) {
  SizeTable table;
  const std::vector<WalkDim> old_dims = walk_dims(op.arg, table);
  std::vector<SizeProduct> old_sizes;
  for (const WalkDim& dim : old_dims) {
    old_sizes.push_back(dim.size);
  }
  std::vector<SizeProduct> new_sizes;
  for (const Val* size : op.out->shape()) {
    new_sizes.push_back(table.product_of(size));
  }
  const SizeProduct count = product_of(old_sizes);
  if (count.constant == 0 || count != product_of(new_sizes) || old_sizes == new_sizes ||
      (!count.is_constant() && has_symbolic_axis(op.arg))) {
    return false;
  }
  const ReshapeWalk made{.squeezes = {}, .transforms = steps_of(op), .broadcasts = {}};
  return walk_reshape(old_dims, new_sizes) == made;
}

TensorView* reshape(
    TensorView* arg,
    const std::vector<int64_t>& original_shape,
    const std::vector<int64_t>& new_shape) {
  fusion_for({arg});
  NVF_NODE_CHECK(
      static_cast<int64_t>(original_shape.size()) == arg->rank(), arg,
      "reshape: original_shape has rank ", original_shape.size(), ", but the operand has rank ",
      arg->rank(), ".");
  NVF_NODE_CHECK(
      std::count(new_shape.begin(), new_shape.end(), -1) <= 1, arg,
      "Only one dimension can by inferred");
  for (size_t i = 0; i < original_shape.size(); ++i) {
    NVF_NODE_CHECK(
        original_shape[i] >= 0, arg, "reshape: original_shape says ", original_shape[i],
        " for dimension ", i, ", which is no size");
  }
  std::vector<Val*> sizes = sizes_of_lists(original_shape, new_shape, shape_axes(arg));
  for (size_t i = 0; i < original_shape.size(); ++i) {
    const Val* actual = arg->shape()[i];
    NVF_NODE_CHECK(
        !actual->is_const_int() || as_int(actual->value()) == original_shape[i], arg,
        "reshape: original_shape says ", original_shape[i], " for dimension ", i,
        ", but its size is ", actual->to_inline_string(), ".");
  }
  return reshape(arg, sizes);
}

TensorView* flatten(TensorView* arg, int64_t start_dim, int64_t end_dim) {
  fusion_for({arg});
  const int64_t rank = std::max<int64_t>(arg->rank(), 1);
  const int64_t start = start_dim < 0 ? start_dim + rank : start_dim;
  const int64_t end = end_dim < 0 ? end_dim + rank : end_dim;
  NVF_NODE_CHECK(
      start >= 0 && start < rank, arg, "Invalid start_dim ", start_dim, " for rank ", rank);
  NVF_NODE_CHECK(end >= 0 && end < rank, arg, "Invalid end_dim ", end_dim, " for rank ", rank);
  NVF_NODE_CHECK(start <= end, arg, "start_dim must be <= end_dim, but got ", start, " and ", end);
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
