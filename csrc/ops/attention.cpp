#include "ops/attention.h"

#include "ir/matmul_exprs.h"
#include "ir/scalar.h"
#include "ops/operands.h"

namespace nvfuser::ops {

namespace {

IterDomains copies(const IterDomains& axes, size_t from, size_t to) {
  IterDomains result;
  for (size_t i = from; i < to; ++i) {
    result.push_back(copy_axis(axes.at(i)));
  }
  return result;
}

/// The scalars of attention as the node has them: Double, Bool, Double.
struct Scalars {
  Val* dropout_p;
  Val* is_causal;
  Val* scale; // nullptr: chosen at run time
};

Scalars checked(Val* dropout_p, Val* is_causal, Val* scale) {
  Fusion& fusion = Fusion::active();
  const auto is_real = [](const Val* val) {
    return val == nullptr ||
           (val->is_scalar() && (is_floating_point(val->dtype()) || is_integral(val->dtype())));
  };
  NVF_NODE_CHECK(is_real(dropout_p), dropout_p, "Expected dropout to be a real-valued scalar.");
  NVF_NODE_CHECK(
      is_causal == nullptr || (is_causal->is_scalar() && is_causal->dtype() == DataType::Bool),
      is_causal, "Expected is_causal to be a scalar boolean.");
  NVF_NODE_CHECK(is_real(scale), scale, "Expected scale to be a real-valued scalar.");
  for (Val* val : {dropout_p, is_causal, scale}) {
    if (val != nullptr) {
      fusion_for({val});
    }
  }
  return {
      dropout_p == nullptr ? fusion.new_constant(0.0, DataType::Double)
                           : scalar::cast(DataType::Double, dropout_p),
      is_causal == nullptr ? fusion.new_constant(false, DataType::Bool) : is_causal,
      scale == nullptr ? nullptr : scalar::cast(DataType::Double, scale),
  };
}

void check_alike(const char* what, const TensorView* reference, const TensorView* other) {
  NVF_NODE_CHECK(
      reference->dtype() == other->dtype() && reference->rank() == other->rank(), other,
      "Expected Q, K, V ", what, " to have one dtype and rank, got: ", describe(reference), " and ",
      describe(other));
}

} // namespace

SdpaFwdResult sdpfa_fwd(
    TensorView* query,
    TensorView* key,
    TensorView* value,
    TensorView* bias,
    TensorView* mask,
    Val* dropout_p,
    Val* is_causal,
    Val* scale) {
  Fusion& fusion = fusion_for({query, key, value});
  check_alike("", query, key);
  check_alike("", query, value);
  NVF_NODE_CHECK(
      query->rank() >= 4, query,
      "Expect Q/K/V to have at least 4 dimensions, [N.., H, L, E], but got ", query->rank());
  if (bias != nullptr) {
    fusion_for({bias});
    check_alike("and bias", query, bias);
  }
  if (mask != nullptr) {
    fusion_for({mask});
    NVF_NODE_CHECK(
        mask->dtype() == DataType::Bool && mask->rank() == query->rank(), mask,
        "Expected mask to be Bool and of the rank of Q");
  }
  const Scalars scalars = checked(dropout_p, is_causal, scale);
  const IterDomains q = shape_axes(query);
  const IterDomains v = shape_axes(value);
  SdpaFwdResult result;
  IterDomains axes = copies(q, 0, q.size() - 1);
  axes.push_back(copy_axis(v.back()));
  result.output = new_tensor(axes, query->dtype());
  result.logsumexp = new_tensor(copies(q, 0, q.size() - 1), DataType::Float);
  IterDomain* two = fusion.new_iter_domain({.extent = fusion.new_index(2)});
  result.philox_seed = new_tensor(IterDomains{two}, DataType::UInt64);
  result.philox_offset = new_tensor(IterDomains{}, DataType::UInt64);
  fusion.make<SdpaFwdOp>(
      {.out = result.output,
       .logsumexp = result.logsumexp,
       .philox_seed = result.philox_seed,
       .philox_offset = result.philox_offset,
       .query = query,
       .key = key,
       .value = value,
       .dropout_p = scalars.dropout_p,
       .is_causal = scalars.is_causal,
       .scale = scalars.scale,
       .bias = bias,
       .mask = mask});
  return result;
}

SdpaBwdResult sdpfa_bwd(const SdpaBwdOperands& in) {
  Fusion& fusion = fusion_for(
      {in.grad_output, in.query, in.key, in.value, in.output, in.logsumexp, in.philox_seed,
       in.philox_offset});
  for (const TensorView* tv : {in.key, in.value, in.output, in.grad_output}) {
    check_alike("output and its gradient", in.query, tv);
  }
  const int64_t rank = in.query->rank();
  NVF_NODE_CHECK(
      rank == 4 || rank == 5, in.query,
      "Expect Q/K/V to be either 4D or 5D. [N, H, L, E], with a leading dimension of devices in "
      "the 5D case. Got rank ",
      rank);
  NVF_NODE_CHECK(
      in.logsumexp->rank() == rank - 1, in.logsumexp,
      "Expected logsumexp to have one less dimension than Q/K/V: ", in.logsumexp->rank(), " vs ",
      rank);
  const Scalars scalars = checked(in.dropout_p, in.is_causal, in.scale);
  const SdpaBwdResult result{
      .grad_query = new_tensor_like(in.query, in.query->dtype()),
      .grad_key = new_tensor_like(in.key, in.key->dtype()),
      .grad_value = new_tensor_like(in.value, in.value->dtype()),
  };
  fusion.make<SdpaBwdOp>(
      {.grad_query = result.grad_query,
       .grad_key = result.grad_key,
       .grad_value = result.grad_value,
       .grad_output = in.grad_output,
       .query = in.query,
       .key = in.key,
       .value = in.value,
       .out = in.output,
       .logsumexp = in.logsumexp,
       .dropout_p = scalars.dropout_p,
       .is_causal = scalars.is_causal,
       .philox_seed = in.philox_seed,
       .philox_offset = in.philox_offset,
       .scale = scalars.scale});
  return result;
}

} // namespace nvfuser::ops
