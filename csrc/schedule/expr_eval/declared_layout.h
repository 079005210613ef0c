// How views lie in memory, as far as the definition says: by declared contiguity, not by the
// strides of a run. host/view.h finds strides where these are known.
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/tensor_view.h"

namespace nvfuser::schedule {

/// For each dimension of a tensor, the one that is packed directly inside it: the outer stride is
/// the inner size times the inner stride, whatever the sizes are.
///   [2, 3, 4] contiguous:            0 -> 1 -> 2
///   the same permuted by (2, 0, 1):  1 -> 2 -> 0
///   its slice [:, 0:2, :]:           1 -> 2
/// Dimensions of size one have no place in memory and are packed against all.
class DeclaredLayout {
 public:
  /// The layout of a tensor as it is declared.
  explicit DeclaredLayout(const TensorView* input);

  /// That of `consumer`, which has the elements of `producer` where they are. Empty if they have to
  /// move: a merge of dimensions that are not packed, or a reshape that touches repeated elements.
  /// Requires: this is the layout of `producer`.
  /// Cost: linear in dimensions, merges and splits.
  [[nodiscard]] std::optional<DeclaredLayout> view(
      const TensorView* producer, const TensorView* consumer) const;

 private:
  DeclaredLayout() = default;
  [[nodiscard]] const IterDomain* inner_of(const IterDomain* axis) const;
  [[nodiscard]] const IterDomain* outer_of(const IterDomain* axis) const;
  void set_inner(const IterDomain* axis, const IterDomain* inner);
  /// Let a dimension be another one in all links.
  void rename(const IterDomain* axis, const IterDomain* other);
  /// Whether the elements stay where they are. Rewrites links of operands to those of results.
  bool apply(const Expr* transform);

  std::unordered_map<const IterDomain*, const IterDomain*> inner_;
  std::unordered_map<const IterDomain*, const IterDomain*> outer_; // the reverse
};

} // namespace nvfuser::schedule
