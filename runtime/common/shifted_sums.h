// Mean and sum of squared deviations of a few elements, by sums about one value near them.
//
//   d = x - pivot             sum = sum(d)      squares = sum(d * d)
//   mean = pivot + sum / n    deviation = squares - sum * sum / n
//
// An element takes a subtraction, an addition and a multiply-add, and no step waits for a mean. The
// last subtraction loses digits if the pivot is far from the mean. The first element is the pivot
// of 8, their mean that of 32, the mean of those that of 128. A pivot that is the mean of k of n
// elements makes the squares at most n / k times the deviation, so that at most 3 bits are lost,
// wherever the elements lie. Chan, Golub and LeVeque, 1983: "shifted data".
//
// provides: ShiftedSums
// requires: types product welford
#pragma once

/// Integers as wide as T: in vectors, a count stands beside each sum.
template <typename T>
struct CountOfSums {
  using type = int32_t;
};
template <>
struct CountOfSums<double> {
  using type = int64_t;
};

/// Sums of `kSize` sets of at most `kMost` elements (0: any number); each member is an array, so
/// that one instruction can add to several sets.
template <typename T, int kSize = 1, int kMost = 0>
struct ShiftedSums {
  T pivot[kSize];
  T sum[kSize];
  T squares[kSize];
  typename CountOfSums<T>::type count[kSize];

  /// Doubles have elements with half their digits, and need no second pivot. Nor do few elements:
  /// compilers take their time for steps that are never taken.
  static constexpr bool kMovesPivot = sizeof(T) < sizeof(double) && (kMost == 0 || kMost > 8);

  template <typename Index>
  NVF_FUNCTION void add(Index at, T element) {
    if constexpr (kMovesPivot) {
      if (is_end_of_pivot(at)) {
        move_pivot(at);
      }
    }
    pivot[at] = count[at] == 0 ? element : pivot[at];
    const T delta = element - pivot[at];
    sum[at] += delta;
    squares[at] += delta * delta;
    count[at] += 1;
  }

  /// Squares that overflow give an infinite deviation, elements that are not finite give NaN.
  template <typename Count>
  NVF_FUNCTION Welford<T, Count> moments(int at) const {
    const T offset =
        rounded_product(sum[at], T(1) / static_cast<T>(count[at] == 0 ? 1 : count[at]));
    return {
        pivot[at] + offset,
        squares[at] < infinity<T>() ? squares[at] - offset * sum[at]
                                    : squares[at] + (sum[at] - sum[at]),
        static_cast<Count>(count[at])};
  }

  /// Add the set to an accumulated one. An empty one is replaced: nothing is rounded.
  template <typename Count>
  NVF_FUNCTION void merge_into(int at, T& mean, T& deviation, Count& total) const {
    const Welford<T, Count> own = moments<Count>(at);
    const Welford<T, Count> all = WelfordCombine()(Welford<T, Count>{mean, deviation, total}, own);
    const bool is_first = total == 0;
    mean = is_first ? own.mean : all.mean;
    deviation = is_first ? own.deviation : all.deviation;
    total = all.count;
  }

  /// Add each set to its own.
  template <typename Count>
  NVF_FUNCTION void merge_into(T* mean, T* deviation, Count* total) const {
    NVF_UNROLLED
    for (int i = 0; i < kSize; ++i) {
      merge_into(i, mean[i], deviation[i], total[i]);
    }
  }

 private:
  /// After 8, 32, 128, .. elements.
  template <typename Index>
  NVF_FUNCTION bool is_end_of_pivot(Index at) const {
    return (count[at] & (count[at] - 1)) == 0 && (count[at] & 0x2aaaaaa8) != 0;
  }

  /// The mean becomes the pivot. What rounding leaves of the sum stays in it.
  template <typename Index>
  NVF_FUNCTION void move_pivot(Index at) {
    const T number = static_cast<T>(count[at]);
    const T mean = pivot[at] + sum[at] * (T(1) / number); // of a power of two: exact
    const T step = mean - pivot[at];
    const T rest = sum[at] - number * step;
    const T less = step * (sum[at] + rest);
    squares[at] = squares[at] < infinity<T>() ? squares[at] - less : squares[at];
    sum[at] = rest;
    pivot[at] = mean;
  }
};
