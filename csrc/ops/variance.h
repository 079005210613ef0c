// Mean, variance and the raw Welford reduction.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// Sum of the elements over their number.
TensorView* mean(TensorView* arg, const std::vector<int64_t>& dims, bool keepdim = false);

/// Sum of the squared deviations from the mean over (number - correction).
TensorView* var(
    TensorView* arg,
    const std::vector<int64_t>& dims,
    int64_t correction = 1,
    bool keepdim = false);

struct VarMean {
  TensorView* var = nullptr;
  TensorView* mean = nullptr;
};
/// Both in one pass over the elements. Those of no elements are NaN.
VarMean var_mean(
    TensorView* arg,
    const std::vector<int64_t>& dims,
    int64_t correction = 1,
    bool keepdim = false);

/// The same with a mean of 0 where there are no elements: what normalizes them needs no number of
/// elements for it.
VarMean moments(
    TensorView* arg,
    const std::vector<int64_t>& dims,
    int64_t correction = 1,
    bool keepdim = false);

struct Welford {
  TensorView* avg = nullptr;
  TensorView* var_sum = nullptr; // sum of squared deviations
  TensorView* n = nullptr;       // dtype Index
};
/// One WelfordOp; the reduced dimensions may not be expanded.
Welford welford(TensorView* arg, const std::vector<int64_t>& dims);

/// The same where dimensions of size one are squeezed first: over these alone, the element is the
/// mean, the variance is 0 and the count 1.
Welford welford_of_squeezed(TensorView* arg, const std::vector<int64_t>& dims);

TensorView* standard_deviation(
    TensorView* arg,
    const std::vector<int64_t>& dims,
    int64_t correction = 1,
    bool keepdim = false);

} // namespace nvfuser::ops
