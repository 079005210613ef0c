// The types in which tensors lie in memory between segments. Mostly their own; another one
//
//   * for fp4, which memory holds in pairs of elements: a tensor of any size crosses as
//     Float8_e4m3fn, which has all of its numbers;
//   * with the option io_to_lower_precision, for Float from which only outputs of Half, or only
//     outputs of BFloat16, are computed: it crosses in that type.
//
// The segment that writes such a tensor casts it at its end, those that read it cast it back. So
// what a view or a library reads keeps its type, if that is a matter of speed: the cast would need
// a kernel.
#pragma once

#include <optional>
#include <vector>

#include "base/refusal.h"
#include "segment/flow.h"

namespace nvfuser::segment {

struct ExprFacts;

/// By tensor. `exprs`: by expression, what is known of it. `lowers`: io_to_lower_precision holds.
/// Cost: linear.
[[nodiscard]] std::vector<DataType> stored_types(
    const Flow& flow, const std::vector<ExprFacts>& exprs, bool lowers);

/// Whether io_to_lower_precision holds in this thread.
[[nodiscard]] bool lowers_boundaries();
/// With io_to_lower_precision, outputs of Half and of BFloat16 in one fusion.
[[nodiscard]] std::optional<Refusal> find_two_lower_types(const Fusion& fusion);

} // namespace nvfuser::segment
