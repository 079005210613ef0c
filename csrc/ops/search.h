// Positions of elements by their order.
//
// NaN is greater than every number, as in PyTorch.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

struct TopK {
  TensorView* values = nullptr;
  TensorView* indices = nullptr; // dtype Int
};
/// The `k` largest (or smallest) elements along `dim`, and where they were. Among equal elements
/// any may come. `sorted`: in order.
TopK topk(TensorView* arg, Val* k, int64_t dim = -1, bool largest = true, bool sorted = false);

/// The positions, of dtype Int, that bring `arg` into order along `dim`. `stable`: equal elements
/// keep their order.
TensorView* argsort(TensorView* arg, int64_t dim, bool descending = false, bool stable = false);

} // namespace nvfuser::ops
