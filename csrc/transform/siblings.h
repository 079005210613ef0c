// Siblings: the results of one expression. One nest of loops computes them all, so they have one
// schedule.
#pragma once

#include "base/refusal.h"
#include "ir/fusion.h"

namespace nvfuser {

/// Give the results of `expr` one schedule: all take the loop domain of `like`, by default of the
/// one that is scheduled furthest, parallel types and warp padding go to where none is set, and the
/// produce position is the largest of all.
///   before:  avg[i0, r1/32, r32]  var[i0, r1]  n[i0, r1]
///   after:   avg[i0, r1/32, r32]  var[i0, r1/32, r32]  n[i0, r1/32, r32]
/// Transform primitives change one tensor only, so that a script may transform siblings one by one;
/// propagation, rfactor and lowering call this.
/// Says no to siblings whose transforms are not the first ones of that loop domain.
[[nodiscard]] std::optional<Refusal> try_align_siblings(
    Expr* expr, const TensorView* like = nullptr);
/// For every expression that leads to an output.
[[nodiscard]] std::optional<Refusal> try_align_siblings(Fusion& fusion);
/// The same for a user: throws what is refused.
void align_siblings(Expr* expr, const TensorView* like = nullptr);

/// The result of `expr` whose loop domain the others take; nullptr: it has one result, or several
/// with loops of their own.
[[nodiscard]] const TensorView* furthest_sibling(const Expr* expr);

} // namespace nvfuser
