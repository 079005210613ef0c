// Checks that every transform of loop axes makes before it changes anything.
#pragma once

#include <string>

#include "ir/tensor_view.h"

namespace nvfuser {

/// Position of a loop axis that `action` ("split") may change: it exists, and is shared neither
/// with consumers (compute-at position) nor with producers (max producer position).
[[nodiscard]] int64_t check_free_axis(const TensorView* tv, int64_t axis, const char* action);

/// A tensor of rank 0 has no axes to `action`.
void check_has_axes(const TensorView* tv, const char* action);

/// A size that `action` is given is an integer scalar of the tensor's fusion; `role` ("factor")
/// names it.
void check_size(const TensorView* tv, const Val* size, const char* action, const char* role);

/// The first `count` loop axes of a tensor. Negative counts are from the end, -1 is all.
[[nodiscard]] IterDomains leading_axes(const TensorView* tv, int64_t count);

/// Whether `copy_binding` from one axis to another is possible; it throws what that would throw.
void check_binding(const IterDomain* from, const IterDomain* to);

} // namespace nvfuser
