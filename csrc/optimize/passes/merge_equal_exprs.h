#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Compute once what several expressions compute: the same operation on the same operands.
///   before:  T1 = exp(T0)   T2 = exp(T0)   T3 = T1 + T2
///   after:   T1 = exp(T0)                  T3 = T1 + T1
/// The one that stays is the first in the order of outputs, not in that of statements.
/// Scalars that are computed alike are one value, so that what depends on sizes does not depend on
/// how often the user wrote them.
/// Boundaries that a user asks for behind one value are one boundary.
/// Random tensors stay apart, also with one seed: each draws its own numbers.
/// Cost:     O(expressions) look-ups in a hash table, since operands are merged before their
///           readers are looked at.
bool merge_equal_exprs(Fusion& fusion);

} // namespace nvfuser::optimize
