// Tensors made from scalars. Random numbers: ops/random.h.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// Every element is `fill_value`, converted to `dtype`. A constant size 1 gives a broadcast,
/// another constant an iteration; what a symbolic size is shows when it is known.
TensorView* full(const std::vector<Val*>& shape, Val* fill_value, DataType dtype);
TensorView* zeros(const std::vector<Val*>& shape, DataType dtype);
TensorView* ones(const std::vector<Val*>& shape, DataType dtype);

/// The same in the shape of `arg`, by default with its dtype.
TensorView* full_like(TensorView* arg, Val* fill_value, DataType dtype = DataType::Null);
TensorView* zeros_like(TensorView* arg);
TensorView* ones_like(TensorView* arg);

/// start + i * step for i in [0, length). nullptr: start 0, step 1.
TensorView* iota(
    Val* length, Val* start = nullptr, Val* step = nullptr, DataType dtype = DataType::Int);
/// start, start + step, ... before `end`. nullptr: start 0, step 1.
TensorView* arange(Val* start, Val* end, Val* step = nullptr, DataType dtype = DataType::Int);

/// Ones on the diagonal, zeros elsewhere. nullptr: as many columns as rows.
TensorView* eye(Val* rows, Val* columns = nullptr, DataType dtype = DataType::Float);

/// A tensor of given elements, in row-major order. Null: the type that holds all of them.
TensorView* tensor(
    const std::vector<Val*>& elements,
    const std::vector<int64_t>& shape,
    DataType dtype = DataType::Null);

/// The axes of a tensor of these sizes that has no producer to say what they are.
[[nodiscard]] IterDomains factory_axes(const std::vector<Val*>& shape);

} // namespace nvfuser::ops
