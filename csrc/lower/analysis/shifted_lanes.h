// Vectors whose lanes run along a shifted axis (ir/shifted_axes.h): those at the ends of a row hold
// elements of two rows, or none, and are moved element by element.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// The shift on the way from the lanes of a vectorized tensor to the axis that they are of;
/// nullptr: there is none, or the tensor is not vectorized.
[[nodiscard]] const Resize* shift_of_lanes(const Kernel& kernel, const TensorView* tensor);

/// Whether a vectorized load along a shifted axis begins at any element of its operand, as one of
/// the weights of a row does: two vectors of memory have its lanes. Known from
/// check_vector_accesses on.
[[nodiscard]] bool is_unaligned(const Kernel& kernel, const TensorView* tensor);

/// Why neighbours in `side`, which the vectorized `tensor` is or copies, do not begin at multiples
/// of `width` elements of its memory.
[[nodiscard]] std::optional<Refusal> find_unaligned_rows(
    Kernel& kernel, const TensorView* tensor, TensorView* side, int64_t width);

} // namespace nvfuser
