// Checks that every transform of loop axes makes before it changes anything.
#pragma once

#include <optional>

#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser::transform {

/// Says no to `action` ("split") on a tensor of rank 0, which has no axes.
[[nodiscard]] std::optional<Refusal> find_missing_axes(const TensorView* tv, const char* action);

/// Says no unless the loop axis exists and `action` may change it: it is shared neither with
/// consumers (compute-at position) nor with producers (max producer position).
[[nodiscard]] std::optional<Refusal> find_shared_axis(
    const TensorView* tv, int64_t axis, const char* action);

/// Says no to a size that is no integer scalar; `role` ("factor") names what `action` uses it for.
/// Errors: a size of another fusion.
[[nodiscard]] std::optional<Refusal> find_wrong_size(
    const TensorView* tv, const Val* size, const char* action, const char* role);

/// Says no to a number of loop axes that the tensor does not have.
[[nodiscard]] std::optional<Refusal> find_wrong_count(const TensorView* tv, int64_t count);
/// The first `count` loop axes of a tensor. Negative counts are from the end, -1 is all.
[[nodiscard]] IterDomains leading_axes(const TensorView* tv, int64_t count);

/// Says no to `copy_binding` from one axis to another.
[[nodiscard]] std::optional<Refusal> find_wrong_binding(
    const IterDomain* from, const IterDomain* to);

} // namespace nvfuser::transform
