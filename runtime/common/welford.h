// Mean and sum of squared deviations of a set, mergeable. Chan, Golub and LeVeque, 1979.
//
// provides: Welford WelfordCombine welford_add welford_merge
// requires: types
#pragma once

/// Of `count` elements; all zero for none.
template <typename T, typename Count>
struct Welford {
  T mean;
  T deviation;
  Count count;
};

/// The union of two disjoint sets. An empty one leaves the other as it is: with both empty the
/// formula would be 0 / 0.
struct WelfordCombine {
  template <typename T, typename Count>
  NVF_FUNCTION Welford<T, Count> operator()(Welford<T, Count> a, Welford<T, Count> b) const {
    if (b.count == 0) {
      return a;
    }
    if (a.count == 0) {
      return b;
    }
    const Count count = a.count + b.count;
    const T share = static_cast<T>(b.count) / static_cast<T>(count);
    const T delta = b.mean - a.mean;
    return {
        a.mean + delta * share,
        a.deviation + b.deviation + delta * delta * static_cast<T>(a.count) * share, count};
  }
};

/// Add one element to an accumulated set. In an unrolled loop the count is known to the compiler, and
/// with it the reciprocal: no division is left.
template <typename T, typename Count>
NVF_FUNCTION void welford_add(T& mean, T& deviation, Count& count, T element) {
  count += 1;
  const T delta = element - mean;
  mean += delta * (T(1) / static_cast<T>(count));
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
