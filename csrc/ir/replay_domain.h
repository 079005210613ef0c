// The transforms of one tensor's domain, applied again to other ids.
#pragma once

#include <unordered_map>

#include "ir/tensor_domain.h"
#include "ir/tensor_view.h"

namespace nvfuser {

/// From the ids of one domain to those that stand for them in another.
using IdMap = std::unordered_map<const IterDomain*, IterDomain*>;

/// Give `to` the parallel type, the warp padding and the clusters of `from`.
void copy_binding(const IterDomain* from, IterDomain* to);

/// A new id like `id`, of its own: no definition, not made by a transform, serial.
[[nodiscard]] IterDomain* copy_id(const IterDomain* id);

/// The same transform as `expr` between other ids, in the order of its operands.
Expr* make_like(const Expr* expr, const IterDomains& inputs, const IterDomains& outputs);

/// Extend `map` over every transform of `exprs` (operands before results) whose inputs, or whose
/// outputs, are mapped: forward the transform is applied to the mapped inputs; backward the mapped
/// outputs get inputs of their own. Parallel types and warp padding are copied. A transform with
/// only some of its inputs mapped ends there.
void replay_exprs(const std::vector<Expr*>& exprs, IdMap& map);

enum class ReplayContiguity { Copied, AllTrue };

/// Give `tv` the allocation and loop domains of `like`. Its logical axes stand for those of `like`
/// in order, reductions of both left out; they must be as many. Axes of `like` that cannot be
/// reached (reductions) are dropped; those of `tv` that stand for nothing are appended, or stay
/// where they are if the loops of `like` are its logical axes.
void replay_domain_on(
    TensorView* tv,
    const TensorDomain* like,
    ReplayContiguity contiguity = ReplayContiguity::Copied);

/// Give the outputs that update `input` in place its allocation domain and contiguity, as
/// `replay_domain_on` does, and leave their loops: they are written into its memory.
void replay_layout_on_updates(const TensorView* input);

} // namespace nvfuser
