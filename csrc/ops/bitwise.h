// Operations on the bits of integers that have no node of their own. Those that have one stand in
// the tables of binary.h and unary.h.
#pragma once

#include "ops/binary.h"
#include "ops/unary.h"

namespace nvfuser::ops {

/// `a` shifted right by `n` bits, zeros coming in.
Val* logical_right_shift(Val* a, Val* n);
inline TensorView* logical_right_shift(TensorView* a, Val* n) {
  return static_cast<TensorView*>(logical_right_shift(static_cast<Val*>(a), n));
}

} // namespace nvfuser::ops
