// Positions at which tensors are inlined: reading them from arguments, and what those of a producer
// say about its consumers.
#pragma once

#include "base/refusal.h"
#include "transform/inline_limits.h"

namespace nvfuser::transform {

/// Says no to a position outside of [-axes - 1, axes]; with `best_effort`, positions behind the
/// last axis are all axes.
[[nodiscard]] std::optional<Refusal> find_wrong_position(
    const TensorView* tensor, int64_t position, bool best_effort);
/// An inline position that counts from the end if it is negative (-1: all axes).
[[nodiscard]] int64_t wrap_position(const TensorView* tensor, int64_t position);

/// "Invalid inline position for T3: 2. Maximum allowed value:1"
[[nodiscard]] Refusal refuse_position(const TensorView* tensor, int64_t position, int64_t limit);

/// The produce positions of a consumer and its siblings, from the positions of all producers.
void update_produce_positions(TensorView* consumer, Alignments& alignments);

} // namespace nvfuser::transform
