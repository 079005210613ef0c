// Do two lists of axes of a tensor stand for the same elements?
#pragma once

#include "ir/tensor_view.h"

namespace nvfuser {

/// Loops run over the positions of a scatter, and over the logical domain of everything else; and
/// over what `broadcast` inserted. Memory holds the logical domain, but no reductions.
enum class CoveringDomain { Loop, Allocation };

/// Check that `ids` cover what `domain` stands for: every element is reached exactly once along the
/// transforms between them, in either direction. Broadcast axes of extent 1 may appear and vanish.
/// Errors name the axis at fault. Cost: O(transforms of the tensor).
void check_covers(const TensorView* tv, const IterDomains& ids, CoveringDomain domain);

} // namespace nvfuser
