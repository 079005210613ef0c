// Mean and sum of squared deviations of a set, mergeable. Chan, Golub and LeVeque, 1979.
//
// A mean moves by a product that is rounded before it is added. If the addition were fused with it,
// a sum halfway between two floats would be rounded by the error of the factor 1 / 6, 1 / 10, ..
// alone, which is above zero for most of them: always away from the old mean. Variances far from
// zero would be too small, by more than their random error.
//
// provides: Welford WeightedWelford WelfordCombine welford_add welford_merge welford_merge_alike
// requires: types approximate product
#pragma once

/// Moments of `count` elements; all zero for none.
template <typename T, typename Count>
struct Welford {
  T mean;
  T deviation;
  Count count;
};

/// The same on its way through a tree: the count also as a number to compute with, so that no step
/// converts it.
template <typename T, typename Count>
struct WeightedWelford {
  T mean;
  T deviation;
  T weight;
  Count count;
};

/// The union of two disjoint sets. With both empty the formula would be 0 / 0: the share of an
/// empty set is 0.
struct WelfordCombine {
  template <typename T>
  NVF_FUNCTION static T share_of(T part, T whole) {
    return whole > T(0) ? approximate_divide(part, whole) : T(0);
  }
  template <typename T, typename Count>
  NVF_FUNCTION Welford<T, Count> operator()(Welford<T, Count> a, Welford<T, Count> b) const {
    const Count count = a.count + b.count;
    const T share = share_of(static_cast<T>(b.count), static_cast<T>(count));
    const T delta = b.mean - a.mean;
    return {
        a.mean + rounded_product(delta, share),
        a.deviation + b.deviation + delta * delta * static_cast<T>(a.count) * share, count};
  }
  template <typename T, typename Count>
  NVF_FUNCTION WeightedWelford<T, Count> operator()(
      WeightedWelford<T, Count> a, WeightedWelford<T, Count> b) const {
    const T weight = a.weight + b.weight;
    const T share = share_of(b.weight, weight);
    const T delta = b.mean - a.mean;
    return {
        a.mean + rounded_product(delta, share),
        a.deviation + b.deviation + delta * delta * a.weight * share, weight, a.count + b.count};
  }
};

/// Add one element to an accumulated set. In an unrolled loop the count is known to the compiler,
/// and with it the reciprocal: no division is left.
template <typename T, typename Count>
NVF_FUNCTION void welford_add(T& mean, T& deviation, Count& count, T element) {
  count += 1;
  const T delta = element - mean;
  mean += rounded_product(delta, T(1) / static_cast<T>(count));
  deviation += delta * (element - mean);
}

/// Add a disjoint set.
template <typename T, typename Count>
NVF_FUNCTION void welford_merge(
    T& mean, T& deviation, Count& count, const Welford<T, Count>& other) {
  const Welford<T, Count> all = WelfordCombine()(Welford<T, Count>{mean, deviation, count}, other);
  mean = all.mean;
  deviation = all.deviation;
  count = all.count;
}

/// Add a disjoint set to each set of an array. All sets have as many elements, and so have those
/// that are added.
template <int kSize, typename T, typename Count>
NVF_FUNCTION void welford_merge_alike(
    T* mean,
    T* deviation,
    Count* count,
    const T* other_mean,
    const T* other_deviation,
    const Count* other_count) {
  const T weight = static_cast<T>(count[0]);
  const Count total = count[0] + other_count[0];
  const T share = WelfordCombine::share_of(static_cast<T>(other_count[0]), static_cast<T>(total));
  NVF_UNROLLED
  for (int i = 0; i < kSize; ++i) {
    const T delta = other_mean[i] - mean[i];
    mean[i] += rounded_product(delta, share);
    deviation[i] = deviation[i] + other_deviation[i] + delta * delta * weight * share;
    count[i] = total;
  }
}
