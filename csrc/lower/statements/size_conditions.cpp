#include "lower/statements/size_conditions.h"

#include "ir/sampled_sizes.h"
#include "ir/scalar.h"
#include "lower/analysis/launch_conditions.h"

namespace nvfuser {
namespace {

/// The operation that computes `val`, if it is this one.
const BinaryOp* computed_by(const Val* val, BinaryOpType op) {
  const auto* binary = val->definition() == nullptr ? nullptr : val->definition()->as<BinaryOp>();
  return binary != nullptr && binary->op == op ? binary : nullptr;
}

bool is_not_negative(const Val* position) {
  if (position->is_const_int()) {
    return as_int(position->value()) >= 0;
  }
  const BinaryOp* max = computed_by(position, BinaryOpType::Max);
  return max != nullptr && (max->lhs->is_zero() || max->rhs->is_zero());
}

/// Whether it shows that `stop` is at most `size` or `start`, as where a slice was normalized.
bool is_clipped(const Val* stop, const Val* start, const Val* size) {
  if (stop->same_as(size) || stop->same_as(start) || stop->is_zero()) {
    return true;
  }
  if (stop->is_const_int() && size->is_const_int()) {
    return as_int(stop->value()) <= as_int(size->value());
  }
  if (const BinaryOp* min = computed_by(stop, BinaryOpType::Min)) {
    return is_clipped(min->lhs, start, size) || is_clipped(min->rhs, start, size);
  }
  const BinaryOp* max = computed_by(stop, BinaryOpType::Max);
  return max != nullptr && is_clipped(max->lhs, start, size) && is_clipped(max->rhs, start, size);
}

/// A constant that divides a size in all runs, as far as it shows.
int64_t known_divisor(const Val* size) {
  if (size->is_const_int()) {
    return as_int(size->value());
  }
  if (const BinaryOp* product = computed_by(size, BinaryOpType::Mul)) {
    int64_t divisor = 1;
    const bool is_too_large =
        __builtin_mul_overflow(known_divisor(product->lhs), known_divisor(product->rhs), &divisor);
    return is_too_large ? 1 : divisor;
  }
  for (const BinaryOpType op : {BinaryOpType::CeilDiv, BinaryOpType::Div}) {
    const BinaryOp* quotient = computed_by(size, op);
    if (quotient != nullptr && quotient->rhs->is_const_int() && !quotient->rhs->is_zero()) {
      const int64_t whole = known_divisor(quotient->lhs);
      const int64_t factor = as_int(quotient->rhs->value());
      return whole % factor == 0 ? whole / factor : 1;
    }
  }
  return 1;
}

/// The sizes of a merge or a split: whole = outer * inner.
struct ProductSizes {
  Val* whole = nullptr;
  Val* outer = nullptr;
  Val* inner = nullptr;
  const Val* factor = nullptr; // of a split, whose other size is a quotient, maybe with a rest
};

ProductSizes sizes_of(const Expr* transform) {
  if (const auto* merge = transform->as<Merge>()) {
    return {
        .whole = merge->out->extent(),
        .outer = merge->outer->extent(),
        .inner = merge->inner->extent()};
  }
  const auto* split = transform->as<Split>();
  return {
      .whole = split->in->extent(),
      .outer = split->outer->extent(),
      .inner = split->inner->extent(),
      .factor = split->factor};
}

/// Whether they are equal in all runs, as far as it shows.
bool are_equal(const ProductSizes& sizes, SampledSizes& samples) {
  const bool may_leave_rest =
      sizes.factor != nullptr && known_divisor(sizes.whole) % as_int(sizes.factor->value()) != 0;
  const std::optional<int64_t> outer = samples.of(sizes.outer);
  const std::optional<int64_t> inner = samples.of(sizes.inner);
  int64_t product = 0;
  return !may_leave_rest && outer.has_value() && inner.has_value() &&
         !__builtin_mul_overflow(*outer, *inner, &product) && samples.of(sizes.whole) == product;
}

} // namespace

void SizeConditions::require_elements(
    const TensorView* arg, int64_t dim, const TensorView* positions) {
  Val* count = kernel_.one();
  for (Val* size : positions->shape()) {
    count = scalar::mul(count, size);
  }
  require(
      scalar::logical_or(
          scalar::lt(kernel_.zero(), arg->size(dim)), scalar::eq(count, kernel_.zero())),
      arg, {"Dimension ", dim, " of ", arg->to_string(), ", which is looked up, has no element"});
}

void SizeConditions::require_at_most(
    const TensorView* small, const TensorView* large, int64_t except) {
  for (int64_t dim = 0; dim < small->rank(); ++dim) {
    if (dim != except) {
      require(
          scalar::le(small->size(dim), large->size(dim)), small,
          {"Dimension ", dim, " of ", small->to_string(), " is larger than that of ",
           large->to_string()});
    }
  }
}

void SizeConditions::require_positions(const TensorView* arg, int64_t dim, Val* start, Val* stop) {
  Val* size = arg->size(dim);
  if (is_not_negative(start) && is_clipped(stop, start, size)) {
    return;
  }
  require(
      scalar::logical_and(
          scalar::le(kernel_.zero(), start),
          scalar::logical_or(scalar::le(stop, size), scalar::le(stop, start))),
      arg,
      {"A slice takes positions of dimension ", dim, " of ", arg->to_string(),
       " that it does not have"});
}

void SizeConditions::require_exact_transforms(const TensorView* out) {
  SampledSizes samples;
  for (const Expr* transform : exprs_between(out->maybe_root(), out->logical())) {
    const ProductSizes sizes = sizes_of(transform);
    if (!are_equal(sizes, samples)) {
      require(
          scalar::eq(sizes.whole, scalar::mul(sizes.outer, sizes.inner)), out,
          {"The reshape to ", out->to_string(),
           " has another number of elements than its operand"});
    }
  }
}

void SizeConditions::require(Val* holds, const TensorView* tensor, const Part& headline) {
  if (!holds->is_true()) {
    kernel_.launch.conditions.push_back(size_condition(holds, headline, describe(tensor)));
  }
}

void require_sizes(const ReshapeOp& op, SizeConditions& conditions) {
  conditions.require_exact_transforms(op.out);
}

void require_sizes(const SelectOp& op, SizeConditions& conditions) {
  conditions.require_elements(op.arg, op.dim, op.out);
}

void require_sizes(const IndexSelectOp& op, SizeConditions& conditions) {
  conditions.require_elements(op.arg, op.dim, op.index);
}

void require_sizes(const GatherOp& op, SizeConditions& conditions) {
  conditions.require_elements(op.arg, op.dim, op.index);
  if (!op.exact_sizes) { // else they are equal, or broadcast together
    conditions.require_at_most(op.index, op.arg, op.dim);
  }
}

void require_sizes(const ScatterOp& op, SizeConditions& conditions) {
  constexpr int64_t kNone = -1;
  conditions.require_at_most(op.index, op.out, op.dim);
  if (op.src->is_tensor()) {
    conditions.require_at_most(op.index, static_cast<const TensorView*>(op.src), kNone);
  }
}

void require_sizes(const SliceOp& op, SizeConditions& conditions) {
  for (size_t dim = 0; dim < op.starts.size(); ++dim) {
    conditions.require_positions(op.arg, static_cast<int64_t>(dim), op.starts[dim], op.stops[dim]);
  }
}

} // namespace nvfuser
