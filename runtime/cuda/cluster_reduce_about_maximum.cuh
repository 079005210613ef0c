// A maximum, and the sum of exponentials about it, over the threads of a cluster with one exchange.
//
// Every thread has a maximum m and the sum s of e^(x - m), or about 0 if m is -inf, in a Group. Two
// of them are combined about the larger maximum: s * e^(m - larger).
//
// provides: cluster_reduce_about_maximum ExactPowers PowersWithFactor
// requires: types reduce_ops shuffle group approximate cluster_reduce
#pragma once

/// The factor that makes a sum about `own` one about `common`.
struct ExactPowers {
  template <typename T>
  NVF_FUNCTION static T scale(T own, T common) {
    return exp(own - common);
  }
};
/// The same of sums of `approximate_exp_about`, whose factor follows from the maximum that they are
/// about: the products are rounded here as they are there. If one is multiplied and the other is
/// not, they are so far from each other that the result is 0.
struct PowersWithFactor {
  NVF_FUNCTION static float scale(float own, float common) {
    const float factor = fabsf(common) < 65536.0f ? 1.4426950408889634f : 1.0f;
    return approximate_exp2(__fmul_rn(own, factor) - __fmul_rn(common, factor));
  }
};

template <typename Powers>
struct SumAboutMaximum {
  /// The sum of `value` about another maximum, which is not smaller. About 0 instead of -inf, as
  /// there is no difference of two infinities then.
  template <typename T>
  NVF_FUNCTION static T sum_about(T maximum, const Group<T, T>& value) {
    return value.rest.value *
           Powers::scale(value.value, maximum == -infinity<T>() ? T(0) : maximum);
  }
  template <typename T>
  NVF_FUNCTION Group<T, T> operator()(const Group<T, T>& a, const Group<T, T>& b) const {
    const T maximum = ReduceMax()(a.value, b.value);
    return {maximum, {sum_about(maximum, a) + sum_about(maximum, b)}};
  }
};

// Several are combined about the maximum of all: one exponential for each.

template <typename Powers, typename T>
NVF_FUNCTION Group<T, T> warp_combine(Group<T, T> value, SumAboutMaximum<Powers> op) {
  const T maximum = warp_combine(value.value, ReduceMax());
  return {maximum, {warp_combine(op.sum_about(maximum, value), ReduceAdd())}};
}

/// As cluster_reduce_group. The sum is NaN if the maximum is infinite: so are exponentials about
/// it.
template <unsigned kBlocks, bool kX, bool kY, bool kZ, typename Powers, typename T>
NVF_FUNCTION void cluster_reduce_about_maximum(
    const Group<T&, T&>& outs,
    const typename Exactly<Group<T, T>>::Type& in,
    const typename Exactly<Group<T, T>>::Type& init,
    bool read,
    void* scratch,
    ClusterTurns& turns) {
  using Combine = SumAboutMaximum<Powers>;
  Group<T, T> all =
      combine_in_cluster<kBlocks, kX, kY, kZ>(read ? in : init, init, Combine(), scratch, turns);
  all.rest.value += all.value - all.value;
  store_group(outs, Combine()(load_group(outs), all));
}
