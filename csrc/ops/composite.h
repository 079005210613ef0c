// Operations that are made of others.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// 1, 0 or -1 in the dtype of x.
Val* sign(Val* x);
inline TensorView* sign(TensorView* x) {
  return static_cast<TensorView*>(sign(static_cast<Val*>(x)));
}

/// The elements of the last two dimensions with column >= row + diagonal, zeros below.
/// `diagonal` is an integer scalar.
TensorView* triu(TensorView* arg, Val* diagonal);

} // namespace nvfuser::ops
