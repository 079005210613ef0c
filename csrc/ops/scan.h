// Running sums and the like: each element combined with all before it.
//
// The functions, their bindings and their names in translated Python derive from one table of
// X(python_name, BinaryOpType, "documentation").
#pragma once

#include "ir/fusion.h"

// clang-format off
#define NVF_FOR_EACH_SCAN_FUNCTION(X)                              \
  X(cumsum, Add, "Sum of the elements up to each position.")       \
  X(cumprod, Mul, "Product of the elements up to each position.")  \
  X(cummin, Min, "Smallest element up to each position.")          \
  X(cummax, Max, "Greatest element up to each position.")
// clang-format on

namespace nvfuser::ops {

/// out[i] = op(init, arg[0], .., arg[i]) along `dim`, of the dtype of `arg`: sums and products of
/// narrow floats run in Float, and each element is rounded once. nullptr: the identity of `op` is
/// the initial value. A dimension of size one is copied.
TensorView* scan(TensorView* arg, int64_t dim, BinaryOpType op, Val* init = nullptr);

#define NVF_DECLARE_SCAN(name, op, doc) \
  TensorView* name(TensorView* arg, int64_t dim, Val* init = nullptr);
NVF_FOR_EACH_SCAN_FUNCTION(NVF_DECLARE_SCAN)
#undef NVF_DECLARE_SCAN

} // namespace nvfuser::ops
