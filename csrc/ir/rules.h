// The refusals of functions of this floor, as values: code that only wants to know asks here, and
// the functions throw the same refusal for a user.
#pragma once

#include <optional>

#include "base/refusal.h"
#include "ir/iter_domain.h"
#include "ir/tensor_domain.h"

namespace nvfuser {

/// A refusal that says everything in its headline, and names `node` with the line that made it.
[[nodiscard]] inline Refusal refuse_node(const Statement* node, Part headline) {
  return refuse(
      {.headline = std::move(headline),
       .node = describe(node),
       .expected = Part::none(),
       .found = Part::none(),
       .fix = Part::none()});
}

/// A refusal that is about one node: `node` says which, with the line that made it, and what
/// belongs to it.
[[nodiscard]] inline Refusal refuse_node(
    Part node, Part headline, Part expected, Part found, Part fix) {
  return refuse(
      {.headline = std::move(headline),
       .node = std::move(node),
       .expected = std::move(expected),
       .found = std::move(found),
       .fix = std::move(fix)});
}
[[nodiscard]] inline Refusal refuse_node(
    const Statement* node, Part headline, Part expected, Part found, Part fix) {
  return refuse_node(
      Part(describe(node)), std::move(headline), std::move(expected), std::move(found),
      std::move(fix));
}

/// `wrap_axis`: says no to a position out of range. `node`, if there is one, is what has positions.
[[nodiscard]] std::optional<Refusal> find_wrong_axis(
    int64_t position, int64_t size, const Statement* node);

/// `IterDomain::parallelize`: says no to a type that needs a constant extent which `axis` has not.
[[nodiscard]] std::optional<Refusal> find_wrong_parallel_type(
    const IterDomain* axis, ParallelType type);

/// `IterDomain::set_clustered_blocks`: says no to an axis that is not bound to grid_x.
[[nodiscard]] std::optional<Refusal> find_wrong_cluster(const IterDomain* axis);

/// `IterDomain::pad_to_multiple_of_warp`: says no to an axis that is not bound to block_x, and to
/// sizes that are no multiples of a warp or less than the axis.
[[nodiscard]] std::optional<Refusal> find_wrong_padding(
    const IterDomain* axis, std::optional<int64_t> size);

/// `merge_ids`: says no to axes of unlike types, and to a product beyond 64 bits.
[[nodiscard]] std::optional<Refusal> find_wrong_merge(
    const IterDomain* outer, const IterDomain* inner);

/// `swizzle1d_id`: says no to a type that is no device dimension.
[[nodiscard]] std::optional<Refusal> find_wrong_rotation(const IterDomain* axis, ParallelType type);

/// `resize_id`: says no to an axis that is a part of another one or of a type that is not resized,
/// to a size beyond 64 bits, and to a type that does not fit the size. Makes the sum of the widths.
[[nodiscard]] std::optional<Refusal> find_wrong_resize(
    IterDomain* axis, Val* left, Val* right, std::optional<IterType> iter_type);

/// Says no unless `contiguity` has an entry for each axis of `allocation` that fits its type.
[[nodiscard]] std::optional<Refusal> find_wrong_contiguity(
    const IterDomains& allocation, const Contiguity& contiguity);

} // namespace nvfuser
