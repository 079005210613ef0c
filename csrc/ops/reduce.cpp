#include "ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ir/reduce.h"
#include "ir/scalar.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/create.h"
#include "ops/operands.h"
#include "ops/shape.h"
#include "ops/ternary.h"

namespace nvfuser::ops {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool has_nan(DataType dtype) {
  return is_floating_point(dtype) && dtype != DataType::Float4_e2m1fn;
}

bool is_nan(const ScalarValue& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && std::isnan(*number);
}

bool is_sum_or_product(BinaryOpType op) {
  return op == BinaryOpType::Add || op == BinaryOpType::Mul;
}

/// The dtype `op` reduces in.
DataType accumulation_dtype(BinaryOpType op, DataType operand, DataType asked) {
  if (!is_sum_or_product(op)) {
    NVF_USER_CHECK(asked == DataType::Null, "A dtype other than Null is not currently supported.");
    // Threads and blocks exchange partial results, and half a byte has no address.
    return operand == DataType::Float4_e2m1fn ? DataType::Float : operand;
  }
  if (asked != DataType::Null) {
    return asked;
  }
  return is_integral(operand) || is_boolean(operand) ? DataType::Int : operand;
}

/// The result over no elements: every element is the identity.
TensorView* full_of_identity(
    TensorView* arg, const std::vector<int64_t>& dims, bool keepdim, Val* identity) {
  std::vector<Val*> sizes = arg->shape();
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    if (keepdim) {
      sizes[static_cast<size_t>(*dim)] = arg->fusion()->one();
    } else {
      sizes.erase(sizes.begin() + *dim);
    }
  }
  return full(sizes, identity, arg->dtype());
}

/// The result for elements that are repeated: a sum of n equal numbers, a product of them. The
/// greatest of them is each of them, unless there are none.
TensorView* repeated(
    BinaryOpType op, TensorView* reduced, const std::vector<Val*>& repeats, Val* init) {
  if (repeats.empty()) {
    return reduced;
  }
  Val* count = std::accumulate(repeats.begin() + 1, repeats.end(), repeats.front(), scalar::mul);
  if (!is_sum_or_product(op) && count->is_const() && !count->is_zero()) {
    return reduced;
  }
  Val* result = op == BinaryOpType::Add ? mul(reduced, count)
                : op == BinaryOpType::Mul
                    ? pow(reduced, count)
                    : where(gt(count, reduced->fusion()->zero()), reduced, init);
  return maybe_cast(static_cast<TensorView*>(result), reduced->dtype());
}

} // namespace

ScalarValue reduction_identity(BinaryOpType op, DataType dtype) {
  switch (op) {
    case BinaryOpType::Add: return convert_value(int64_t{0}, dtype);
    case BinaryOpType::Mul: return convert_value(int64_t{1}, dtype);
    case BinaryOpType::Max: return lowest_value(dtype);
    case BinaryOpType::Min: return highest_value(dtype);
    case BinaryOpType::FMax:
      return has_nan(dtype) ? kNaN : reduction_identity(BinaryOpType::Max, dtype);
    case BinaryOpType::FMin:
      return has_nan(dtype) ? kNaN : reduction_identity(BinaryOpType::Min, dtype);
    default: throw UserError(Part("A reduction with ", enum_name(op), " has no initial value."));
  }
}

bool is_reduction_identity(BinaryOpType op, const ScalarValue& value, DataType dtype) {
  const ScalarValue identity = convert_value(reduction_identity(op, dtype), dtype);
  return value == identity || (is_nan(value) && is_nan(identity));
}

Val* reduced_count(const TensorView* arg, const std::vector<int64_t>& dims) {
  Val* count = number(1.0);
  if (arg->rank() > 0) {
    for (const int64_t dim : unique_dims(arg, dims)) {
      count = mul(count, arg->size(dim));
    }
  }
  return count;
}

std::vector<bool> flags_of(const std::vector<int64_t>& dims, int64_t rank) {
  std::vector<bool> flags(static_cast<size_t>(rank), false);
  for (const int64_t dim : dims) {
    flags.at(static_cast<size_t>(dim)) = true;
  }
  return flags;
}

TensorView* new_reduced_tensor(TensorView* arg, const std::vector<int64_t>& dims, DataType dtype) {
  const IterDomains axes = shape_axes(arg);
  const std::vector<bool> is_reduced = flags_of(dims, static_cast<int64_t>(axes.size()));
  IterDomains logical;
  for (size_t i = 0; i < axes.size(); ++i) {
    IterDomainSpec spec = copied_spec(axes[i]);
    if (is_reduced[i]) {
      if (axes[i]->has_expanded_extent()) {
        throw UserError({
            .headline =
                {"Cannot reduce an axis that is marked as broadcasted as it has an "
                 "undetermined size. Tried to reduce ID = ",
                 axes[i]->to_string(), " of tensor ", arg->to_string()},
            .node = describe(arg),
            .expected = {"a dimension that is not expanded"},
            .found = {axes[i]->to_string()},
            .fix = {"use sum, prod, max, min or var, which count repeated elements"},
        });
      }
      spec.iter_type = IterType::Reduction;
    }
    logical.push_back(Fusion::active().new_iter_domain(spec));
  }
  return new_tensor(logical, dtype);
}

TensorView* new_reduction(
    BinaryOpType op, TensorView* arg, const std::vector<int64_t>& dims, Val* init) {
  Fusion& fusion = fusion_for({arg, init});
  TensorView* out = new_reduced_tensor(arg, dims, arg->dtype());
  fusion.make<ReductionOp>({.out = out, .arg = arg, .init = init, .op = op});
  return out;
}

ReductionPlan plan_reduction(
    const TensorView* arg, const std::vector<int64_t>& dims, bool squeeze_expanded) {
  const IterDomains axes = shape_axes(arg);
  ReductionPlan plan;
  for (const int64_t dim : dims) {
    const IterDomain* axis = axes.at(static_cast<size_t>(dim));
    if (axis->is_broadcast() && (squeeze_expanded || !axis->has_expanded_extent())) {
      plan.squeezed.push_back(dim);
      if (axis->has_expanded_extent()) {
        plan.repeats.push_back(axis->expanded_extent());
      }
    } else { // `dims` is sorted, so the dimensions squeezed so far are those before this one
      plan.reduced.push_back(dim - static_cast<int64_t>(plan.squeezed.size()));
    }
  }
  plan.squeezed_rank = static_cast<int64_t>(axes.size() - plan.squeezed.size());
  return plan;
}

TensorView* make_reduction(
    BinaryOpType op,
    TensorView* arg,
    const std::vector<int64_t>& dims,
    bool keepdim,
    DataType dtype) {
  Fusion& fusion = fusion_for({arg});
  NVF_NODE_CHECK(!dims.empty(), arg, "No reduction axis specified");
  if (!is_sum_or_product(op)) {
    check_not_complex(enum_name(op), arg);
  }
  TensorView* operand = maybe_cast(arg, accumulation_dtype(op, arg->dtype(), dtype));
  const int64_t rank = operand->rank();
  if (rank == 0) {
    for (const int64_t dim : dims) { // as in PyTorch, 0 and -1 are accepted
      static_cast<void>(wrap_axis(dim, 1, arg));
    }
    return set(operand);
  }
  const std::vector<int64_t> axes = unique_dims(arg, dims);
  Val* identity = fusion.new_constant(reduction_identity(op, operand->dtype()), operand->dtype());
  const bool is_empty = std::any_of(
      axes.begin(), axes.end(), [&](int64_t axis) { return operand->size(axis)->is_const_int(0); });
  TensorView* result = is_empty ? full_of_identity(operand, axes, keepdim, identity)
                                : reduce_axes(op, operand, axes, keepdim, identity);
  return is_sum_or_product(op) ? result : maybe_cast(result, arg->dtype());
}

TensorView* reduce_axes(
    BinaryOpType op, TensorView* arg, const std::vector<int64_t>& axes, bool keepdim, Val* init) {
  const ReductionPlan plan = plan_reduction(arg, axes, /*squeeze_expanded=*/true);
  TensorView* result = arg;
  if (!plan.squeezed.empty()) {
    result = squeeze(result, plan.squeezed, /*squeeze_expanded=*/true);
  }
  if (!plan.reduced.empty()) {
    result = new_reduction(op, result, plan.reduced, init);
    if (keepdim) {
      result = broadcast(result, flags_of(plan.reduced, plan.squeezed_rank));
    }
  }
  result = repeated(op, result, plan.repeats, init);
  if (keepdim && !plan.squeezed.empty()) {
    result = broadcast(result, flags_of(plan.squeezed, arg->rank()));
  }
  return result == arg ? set(arg) : result;
}

#define NVF_DEFINE_REDUCTION(name, op, doc)                                              \
  TensorView* name(                                                                      \
      TensorView* arg, const std::vector<int64_t>& dims, bool keepdim, DataType dtype) { \
    return make_reduction(BinaryOpType::op, arg, dims, keepdim, dtype);                  \
  }                                                                                      \
  TensorView* name(TensorView* arg, DataType dtype) {                                    \
    fusion_for({arg});                                                                   \
    std::vector<int64_t> dims(static_cast<size_t>(arg->rank()));                         \
    std::iota(dims.begin(), dims.end(), 0);                                              \
    return name(arg, dims, /*keepdim=*/false, dtype);                                    \
  }
NVF_FOR_EACH_REDUCTION_FUNCTION(NVF_DEFINE_REDUCTION)
#undef NVF_DEFINE_REDUCTION

TensorView* sum_to(TensorView* arg, const std::vector<Val*>& shape) {
  fusion_for({arg});
  fusion_for(shape);
  const int64_t num_leading = arg->rank() - static_cast<int64_t>(shape.size());
  NVF_NODE_CHECK(
      num_leading >= 0, arg, "sum_to: the shape has more dimensions (", shape.size(),
      ") than the tensor (", arg->rank(), ")");
  std::vector<int64_t> leading;
  std::vector<int64_t> kept;
  for (int64_t dim = 0; dim < arg->rank(); ++dim) {
    Val* size = arg->size(dim);
    if (dim < num_leading) {
      leading.push_back(dim);
    } else if (Val* wanted = shape[static_cast<size_t>(dim - num_leading)]; !wanted->is_one()) {
      static_cast<void>(agreed_extent(wanted, size, arg));
    } else if (!size->is_one()) {
      kept.push_back(dim - num_leading);
    }
  }
  TensorView* result = leading.empty() ? arg : sum(arg, leading);
  return kept.empty() ? result : sum(result, kept, /*keepdim=*/true);
}

} // namespace nvfuser::ops
