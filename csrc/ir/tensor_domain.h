// TensorDomain: the domains of a tensor.
//
//   root        axes of the producer before the operation's own transform; empty if it has none
//   logical     the tensor's shape, reduction axes included; what correctness is defined on
//   allocation  axes that address memory, outermost stride first; empty: the logical ones
//   loop        the loop nest; the only domain that most scheduling changes
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ir/fields.h"
#include "ir/statement.h"

namespace nvfuser {

/// Per allocation axis: true: its stride is the size of everything inside it; false: any stride;
/// empty: a broadcast or reduction, which has no stride.
using Contiguity = std::vector<std::optional<bool>>;
using IterDomains = std::vector<IterDomain*>;

/// Everything a TensorDomain is made of.
struct TensorDomainSpec {
  IterDomains root; // empty: no root domain
  IterDomains logical;
  IterDomains allocation;        // empty: no allocation domain
  IterDomains loop;              // empty: the logical domain
  Contiguity contiguity;         // empty: contiguous everywhere
  IterDomains initial_loop = {}; // empty: the loop domain

  static constexpr auto fields() {
    using S = TensorDomainSpec;
    return std::tuple{
        attr("root", &S::root, "Axes before the operation's own transform; may be empty."),
        attr("logical", &S::logical, "The tensor's shape, reduction axes included."),
        attr(
            "allocation", &S::allocation,
            "Axes that address memory, outermost stride first; may be empty."),
        attr("loop", &S::loop, "The loop nest, outermost first."),
        attr("initial_loop", &S::initial_loop, "The loop domain the tensor was made with."),
        attr(
            "contiguity", &S::contiguity,
            "Per allocation axis: whether its stride is the size of everything inside it; None for "
            "broadcasts and reductions."),
    };
  }
};

class TensorDomain final : public Val {
 public:
  [[nodiscard]] const IterDomains& root() const {
    return spec_.root;
  }
  [[nodiscard]] const IterDomains& maybe_root() const {
    return has_root() ? spec_.root : spec_.logical;
  }
  [[nodiscard]] const IterDomains& logical() const {
    return spec_.logical;
  }
  [[nodiscard]] const IterDomains& allocation() const {
    return spec_.allocation;
  }
  [[nodiscard]] const IterDomains& maybe_allocation() const {
    return has_allocation() ? spec_.allocation : spec_.logical;
  }
  [[nodiscard]] const IterDomains& loop() const {
    return spec_.loop;
  }
  /// The loop domain the tensor was made with.
  [[nodiscard]] const IterDomains& initial_loop() const {
    return spec_.initial_loop;
  }
  [[nodiscard]] const Contiguity& contiguity() const {
    return spec_.contiguity;
  }
  [[nodiscard]] bool has_root() const {
    return !spec_.root.empty();
  }
  [[nodiscard]] bool has_allocation() const {
    return !spec_.allocation.empty();
  }
  [[nodiscard]] int64_t ndims() const {
    return static_cast<int64_t>(spec_.loop.size());
  }

  // -- questions about the loop domain --
  [[nodiscard]] bool has_reduction() const;
  [[nodiscard]] bool has_broadcast() const;
  [[nodiscard]] bool has_block_reduction() const; // over threads of a block
  [[nodiscard]] bool has_grid_reduction() const;
  [[nodiscard]] bool has_cluster_reduction() const;
  [[nodiscard]] bool has_block_broadcast() const;
  [[nodiscard]] bool has_grid_broadcast() const;
  [[nodiscard]] bool has_vectorize() const;
  /// Position of the first reduction; empty: there is none.
  [[nodiscard]] std::optional<int64_t> reduction_axis() const;
  /// A loop axis; negative positions count from the end.
  [[nodiscard]] IterDomain* axis(int64_t position) const;
  /// Position of an axis in the loop (root) domain; it must be there.
  [[nodiscard]] int64_t pos_of(const IterDomain* id) const;
  [[nodiscard]] int64_t root_pos_of(const IterDomain* id) const;

  // -- questions about the other domains --
  [[nodiscard]] bool has_symbolic_axis() const; // logical
  /// Whether the logical domain is made from the root without reducing: reshape, slice, pad.
  [[nodiscard]] bool has_view_like_rfactor() const;
  [[nodiscard]] bool is_root(const IterDomain* id) const; // without a root domain: logical
  [[nodiscard]] bool is_logical(const IterDomain* id) const;
  [[nodiscard]] bool is_allocation(const IterDomain* id) const; // without one: logical
  [[nodiscard]] bool is_loop(const IterDomain* id) const;
  /// Per logical axis the rank of its stride, 0 = fastest; empty without an allocation domain.
  [[nodiscard]] std::vector<int64_t> stride_order() const;
  [[nodiscard]] const TensorDomainSpec& spec() const {
    return spec_;
  }

  // -- editing: no checks here; the transform floor checks, then calls these --
  void assign_loop(IterDomains loop) {
    spec_.loop = std::move(loop);
    count_edit_of_axes();
  }
  void assign_allocation(IterDomains allocation, Contiguity contiguity) {
    spec_.allocation = std::move(allocation);
    spec_.contiguity = std::move(contiguity);
    count_edit_of_axes();
  }
  void assign_contiguity(Contiguity contiguity) {
    spec_.contiguity = std::move(contiguity);
    count_edit();
  }

  /// Every id of the tensor: those of its domains and all between them, in creation order.
  [[nodiscard]] IterDomains all_ids() const;
  /// Every transform between the domains of the tensor, operands before results.
  [[nodiscard]] std::vector<Expr*> all_exprs() const;

  [[nodiscard]] static IterDomains no_reductions(const IterDomains& ids);
  [[nodiscard]] static IterDomains no_broadcasts(const IterDomains& ids);
  [[nodiscard]] static IterDomains no_devices(const IterDomains& ids);
  /// `flag` for every axis that has a stride, empty for the others.
  [[nodiscard]] static Contiguity contiguity_filled_with(const IterDomains& ids, bool flag);

 private:
  friend class Fusion;
  friend class FusionReader;
  friend class Cloner;
  explicit TensorDomain(TensorDomainSpec spec);
  TensorDomainSpec spec_;
};

/// The rule of contiguity flags: one per allocation axis, with a value where the axis has a stride.
void check_contiguity(const IterDomains& allocation, const Contiguity& contiguity);

/// Transforms on the paths from `from` to `to` (ids of one tensor), operands before results. Ids of
/// `to` that are in `from`, or not derived from it, end the walk.
[[nodiscard]] std::vector<Expr*> exprs_between(const IterDomains& from, const IterDomains& to);

} // namespace nvfuser
