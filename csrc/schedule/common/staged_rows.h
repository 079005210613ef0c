// Rows that pass through shared memory: copies put them there while their threads go on, and
// readers load their vectors from there.
#pragma once

#include <vector>

#include "schedule/summary/accesses.h"

namespace nvfuser::schedule {

/// Whether an access is one of a row that every row has anew.
[[nodiscard]] bool is_streamed(const TensorAccess& access);

/// Whether vectors of `width` elements are loaded to shared memory while threads go on.
[[nodiscard]] bool is_staged(const TensorAccess& access, int64_t width);

/// Put what `loads` read of the input of an access into shared memory first, and return the tensor
/// there: `loads` read it instead.
///   before:  T1 = T0   T2 = T0
///   after:   T3 = T0 (shared)   T1 = T3   T2 = T3
/// Vectors of `width` elements that no asynchronous copy takes pass through registers.
[[nodiscard]] TensorView* stage_in_shared_memory(
    const TensorAccess& access, int64_t width, const std::vector<TensorView*>& loads);

} // namespace nvfuser::schedule
