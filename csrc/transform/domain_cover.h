// Do two lists of axes of a tensor stand for the same elements?
#pragma once

#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser::transform {

/// Loops run over the positions of a scatter, and over the logical domain of everything else; and
/// over what `broadcast` inserted. Memory holds the logical domain, but no reductions.
enum class CoveringDomain { Loop, Allocation };

/// Says no unless `ids` cover what `domain` stands for: every element is reached exactly once along
/// the transforms between them, in either direction. Broadcast axes of extent 1 may appear and
/// vanish. Names the axis at fault. Cost: O(transforms of the tensor).
[[nodiscard]] std::optional<Refusal> find_wrong_cover(
    const TensorView* tv, const IterDomains& ids, CoveringDomain domain);

} // namespace nvfuser::transform
