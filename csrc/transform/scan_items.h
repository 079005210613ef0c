// The loops in which a scan over threads is not finished.
#pragma once

#include "ir/tensor_view.h"

namespace nvfuser::transform {

/// Loop axes of the result of a scan that run over the items of one thread: what is split off
/// inside of the part of its axis that is bound to a thread dimension. Threads combine what they
/// have when these loops have ended. Without axes of size 1; empty for a scan in one thread, and
/// for all other tensors.
[[nodiscard]] IterDomains items_of_scan(const TensorView* tensor);

} // namespace nvfuser::transform
