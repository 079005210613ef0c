// Where the result of a scatter lies, and which axes it runs over. The result begins as a copy of
// what is scattered into, so that tensor is computed in the result's memory and the scatter
// overwrites some of its elements:
//   T2 = set(T0)    T3 = scatter(T2, T1, ..)     both write the memory of T3
#pragma once

#include "ir/tensor_view.h"

namespace nvfuser {

struct ScatterOp;

/// Whether `tensor` can be computed in the memory of the result of the scatter that copies it: it
/// is computed by the fusion, and nothing else reads it or returns it.
[[nodiscard]] bool is_scattered_into(const TensorView* tensor);

/// The tensor whose memory holds the elements of `tensor`; mostly itself.
[[nodiscard]] TensorView* storage_of(TensorView* tensor);
[[nodiscard]] const TensorView* storage_of(const TensorView* tensor);

/// The scatter that makes `tensor`; nullptr: another expression does, or none.
[[nodiscard]] const ScatterOp* scatter_of(const TensorView* tensor);

/// What the loops of `tensor` are made from: a scatter runs over its positions, everything else
/// over its logical axes.
[[nodiscard]] const IterDomains& first_axes(const TensorView* tensor);

} // namespace nvfuser
