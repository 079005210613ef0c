// Random tensors. The numbers are those of Philox 4x32-10: a function of seed, offset and the
// element's position in the logical shape, whatever the schedule and the target.
//
// Without seed and offset, both come from the framework's generator at each run.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// Where the numbers come from: both given, or neither.
struct RandomStream {
  Val* seed = nullptr;
  Val* offset = nullptr;
};

/// Uniform in [low, high).
TensorView* uniform(
    Val* low,
    Val* high,
    const std::vector<Val*>& shape,
    RandomStream stream = {},
    DataType dtype = DataType::Float);
TensorView* normal(
    Val* mean,
    Val* std,
    const std::vector<Val*>& shape,
    RandomStream stream = {},
    DataType dtype = DataType::Float);

/// Uniform in [0, 1), and with mean 0 and standard deviation 1.
TensorView* rand(
    const std::vector<Val*>& shape, DataType dtype = DataType::Float, RandomStream stream = {});
TensorView* randn(
    const std::vector<Val*>& shape, DataType dtype = DataType::Float, RandomStream stream = {});

/// The same in the shape and with the dtype of `arg`.
TensorView* rand_like(TensorView* arg);
TensorView* randn_like(TensorView* arg);

} // namespace nvfuser::ops
