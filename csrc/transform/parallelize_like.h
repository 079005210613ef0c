#pragma once

#include <optional>
#include <set>
#include <vector>

#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser::transform {

/// Copy the parallel types of the first `pos` axes of `reference` (negative: counted from the end,
/// -1 = all) to the loop axes that correspond, of all tensors but the fusion's inputs, or of the
/// selected ones. Siblings of a tensor get what it gets.
///
/// Axes correspond in the exact graph, else in the broadcast graph, else in the permissive one; an
/// axis that corresponds only permissively, to several axes with different types, stays as it is.
/// `selected_parallel_types`, if not empty, restricts what is copied. `propagate_padding` also
/// copies the padding of axes to whole warps.
///
/// Types that say how an instruction moves, multiplies or combines (vectorize, tma, mma, group) are
/// for the tensors they are asked for: selected ones; or, where only the type is selected, copies,
/// and for group reductions.
/// Errors: an axis that corresponds exactly to several axes of the reference with different types.
void parallelize_like(
    TensorView* reference,
    int64_t pos = -1,
    const std::vector<TensorView*>& selected_tensors = {},
    const std::set<ParallelType>& selected_parallel_types = {},
    bool propagate_padding = true);
/// The same; the error is a refusal, and then nothing is changed.
[[nodiscard]] std::optional<Refusal> try_parallelize_like(
    TensorView* reference,
    int64_t pos = -1,
    const std::vector<TensorView*>& selected_tensors = {},
    const std::set<ParallelType>& selected_parallel_types = {},
    bool propagate_padding = true);

} // namespace nvfuser::transform
