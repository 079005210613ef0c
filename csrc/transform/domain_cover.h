// Do two lists of axes of a tensor stand for the same elements?
#pragma once

#include "ir/tensor_view.h"

namespace nvfuser {

/// Whether reductions may be missing: they have a loop, but no place in memory.
enum class Reductions { Required, Optional };

/// Check that `ids` cover the logical domain of `tv`: every logical element is reached exactly once
/// along the transforms between them, in either direction. Broadcast axes of extent 1 may appear
/// and vanish. `domain` ("loop", "allocation") names the list in errors, which name the axis at
/// fault. Cost: O(transforms of the tensor).
void check_covers_logical(
    const TensorView* tv, const IterDomains& ids, Reductions reductions, const char* domain);

} // namespace nvfuser
