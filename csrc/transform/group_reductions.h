#pragma once

#include <optional>
#include <vector>

#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser::transform {

/// Let reductions of one shape run as one, so that they share their barriers and scratch.
///   before:  s = sum(a, [1])     m = max(b, [1])
///   after:   s, m = GroupedReductionOp(sum(a), max(b))
/// Operations, types and identities may differ. Results are in the order of `tvs`.
/// Errors: what is no reduction; axes, transforms, parallel types or positions that differ; extents
/// that are not provably equal; a member that depends on another; tensors inlined where a tensor
/// that depends on the group stands.
void group_reductions(const std::vector<TensorView*>& tvs);
/// The error as a refusal.
[[nodiscard]] std::optional<Refusal> find_wrong_group(const std::vector<TensorView*>& tvs);

} // namespace nvfuser::transform
