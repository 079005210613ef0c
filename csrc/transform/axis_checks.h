// What every transform of loop axes checks before it changes anything.
#pragma once

#include <string>

#include "ir/tensor_view.h"

namespace nvfuser {

/// Position of a loop axis that `action` ("split") may change: it exists, and is shared neither
/// with consumers (compute-at position) nor with producers (max producer position).
[[nodiscard]] int64_t check_free_axis(const TensorView* tv, int64_t axis, const char* action);

/// A tensor of rank 0 has no axes to `action`.
void check_has_axes(const TensorView* tv, const char* action);

} // namespace nvfuser
