#include "ops/variance.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "ir/reduce.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/create.h"
#include "ops/operands.h"
#include "ops/reduce.h"
#include "ops/shape.h"
#include "ops/ternary.h"
#include "ops/unary.h"

namespace nvfuser::ops {

namespace {

TensorView* mean_of(TensorView* arg, const std::vector<int64_t>& dims, bool keepdim, Val* count) {
  return div(sum(arg, dims, keepdim), count);
}

/// A type that running means are held in: they are divided by the count in every step.
bool has_quotients(DataType dtype) {
  return dtype == DataType::Float || dtype == DataType::Double;
}

/// A type that means and deviations can be rounded to: signed, with a zero, an element a byte.
bool holds_moments(DataType dtype) {
  return is_floating_point(dtype) && dtype != DataType::Float8_e8m0fnu &&
         dtype != DataType::Float4_e2m1fn;
}

/// 1 / max(count - correction, 0).
Val* unbiased_factor(Val* count, int64_t correction) {
  Val* zero = number(0.0);
  Val* degrees = sub(count, number(static_cast<double>(correction)));
  return reciprocal(where(ge(degrees, zero), degrees, zero));
}

void check_correction(int64_t correction) {
  NVF_USER_CHECK(correction >= 0, "correction must be non-negative, but got ", correction);
}

void check_not_scheduled(const TensorView* arg) {
  // The loops of a scatter are those of its positions from the start.
  if (arg->loop() != arg->logical() && !loops_over_operands(arg)) {
    throw UserError({
        .headline = {"Reducing a tensor once it's gone under transformations is not permitted at "
                     "this time."},
        .node = describe(arg),
        .expected = {"a tensor whose loop domain is its logical domain"},
        .found = {arg->domain()->to_string()},
        .fix = {"define the operations before the schedule"},
    });
  }
}

bool may_reduce_nothing(const TensorView* arg, const std::vector<int64_t>& dims) {
  if (arg->rank() == 0) {
    return false;
  }
  return std::ranges::any_of(unique_dims(arg, dims), [&](int64_t dim) {
    const Val* size = arg->size(dim);
    return !size->is_const_int() || size->is_zero();
  });
}

/// Moments of a complex tensor from those of its two parts.
template <typename Fn>
VarMean of_parts(TensorView* arg, const Fn& moments_of) {
  const VarMean re = moments_of(real(arg));
  const VarMean im = moments_of(imag(arg));
  return {
      .var = add(re.var, im.var),
      .mean = static_cast<TensorView*>(complex(re.mean, im.mean)),
  };
}

} // namespace

TensorView* mean(TensorView* arg, const std::vector<int64_t>& dims, bool keepdim) {
  fusion_for({arg});
  return mean_of(widened(arg), dims, keepdim, reduced_count(arg, dims));
}

TensorView* var(
    TensorView* arg, const std::vector<int64_t>& dims, int64_t correction, bool keepdim) {
  fusion_for({arg});
  check_correction(correction);
  Val* count = reduced_count(arg, dims);
  TensorView* operand = widened(arg); // the sum of narrow floats may be too large for their type
  TensorView* deviation = sub(operand, mean_of(operand, dims, /*keepdim=*/true, count));
  TensorView* var_sum = sum(mul(deviation, deviation), dims, keepdim);
  return mul(var_sum, unbiased_factor(count, correction));
}

VarMean moments(
    TensorView* arg, const std::vector<int64_t>& dims, int64_t correction, bool keepdim) {
  fusion_for({arg});
  const DataType dtype = arg->dtype();
  NVF_NODE_CHECK(
      has_quotients(real_type_of(dtype)), arg, "variance_mean is not supported for ", dtype,
      " please upcast to float");
  check_correction(correction);
  check_not_scheduled(arg);
  if (is_complex(dtype)) {
    return of_parts(
        arg, [&](TensorView* part) { return moments(part, dims, correction, keepdim); });
  }
  if (arg->rank() == 0) {
    return {.var = var(arg, dims, correction, keepdim), .mean = mean(arg, dims, keepdim)};
  }
  NVF_NODE_CHECK(!dims.empty(), arg, "No reduction axis specified");
  const Welford parts = welford_of_squeezed(arg, dims);
  VarMean result{
      .var = mul(parts.var_sum, unbiased_factor(reduced_count(arg, dims), correction)),
      .mean = parts.avg,
  };
  if (keepdim) {
    const std::vector<bool> flags = flags_of(unique_dims(arg, dims), arg->rank());
    result.var = broadcast(result.var, flags);
    result.mean = broadcast(result.mean, flags);
  }
  return result;
}

VarMean var_mean(
    TensorView* arg, const std::vector<int64_t>& dims, int64_t correction, bool keepdim) {
  if (is_complex(arg->dtype())) {
    return of_parts(
        arg, [&](TensorView* part) { return var_mean(part, dims, correction, keepdim); });
  }
  VarMean result = moments(arg, dims, correction, keepdim);
  if (may_reduce_nothing(arg, dims)) {
    // 0 / 0 is NaN, and 0 / n nothing: the running mean of no elements is 0.
    result.mean = add(result.mean, div(number(0.0), reduced_count(arg, dims)));
  }
  return result;
}

Welford welford(TensorView* arg, const std::vector<int64_t>& dims) {
  Fusion& fusion = fusion_for({arg});
  check_not_scheduled(arg);
  NVF_NODE_CHECK(arg->rank() > 0, arg, "Tried to reduce a 0-dim tensor");
  NVF_NODE_CHECK(!dims.empty(), arg, "No reduction axis specified");
  const DataType dtype = arg->dtype();
  NVF_NODE_CHECK(
      holds_moments(dtype), arg, "welford is not supported for ", dtype, " please upcast to float");
  const std::vector<int64_t> axes = unique_dims(arg, dims);
  const auto zero = [&](DataType type) { return fusion.new_constant(int64_t{0}, type); };
  const Welford out{
      .avg = new_reduced_tensor(arg, axes, dtype),
      .var_sum = new_reduced_tensor(arg, axes, dtype),
      .n = new_reduced_tensor(arg, axes, DataType::Index),
  };
  fusion.make<WelfordOp>(
      {.out_avg = out.avg,
       .out_var = out.var_sum,
       .out_n = out.n,
       .in_avg = arg,
       .in_var = zero(dtype),
       .in_n = fusion.one(),
       .init_avg = zero(dtype),
       .init_var = zero(dtype),
       .init_n = fusion.zero()});
  return out;
}

Welford welford_of_squeezed(TensorView* arg, const std::vector<int64_t>& dims) {
  Fusion& fusion = Fusion::active();
  const ReductionPlan plan =
      plan_reduction(arg, unique_dims(arg, dims), /*squeeze_expanded=*/false);
  TensorView* operand = plan.squeezed.empty() ? arg : squeeze(arg, plan.squeezed);
  if (!plan.reduced.empty()) {
    return welford(operand, plan.reduced);
  }
  const std::vector<Val*> sizes = operand->shape();
  return {
      .avg = operand,
      .var_sum = full(sizes, fusion.new_constant(0.0, arg->dtype()), arg->dtype()),
      .n = full(sizes, fusion.one(), DataType::Index),
  };
}

TensorView* standard_deviation(
    TensorView* arg, const std::vector<int64_t>& dims, int64_t correction, bool keepdim) {
  return sqrt(var(arg, dims, correction, keepdim));
}

} // namespace nvfuser::ops
