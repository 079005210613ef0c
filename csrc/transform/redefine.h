// Defining an expression anew for what its operands have become.
//
// Functions of ops/ look at whether an axis is a broadcast, and an expanded one: they squeeze it
// instead of reducing it, materialize it, refuse it. An axis that was open at definition shows this
// only once sizes are known; the same functions then decide.
#pragma once

#include <vector>

#include "ir/fusion.h"

namespace nvfuser {

/// The tensors that functions of ops/ make of the operands of `expr` and its attributes, one for
/// each result, in their order. Empty: a result's axes only follow those of the operands.
/// Throws UserError where a definition with these operands is refused.
[[nodiscard]] std::vector<TensorView*> redefine(const Expr& expr);

/// The results of a slice, a pad or a topk whose operands say that the dimensions in `units`, which
/// it resizes, have one element, as they do in a run: also a definition that is printed and run
/// again has these broadcasts.
///   slice(T0[i0, i1], [0, i2], [min(i0, 1), i3])  ->  [1, i2 + 1]
///   pad(T0[i0], [i1, i2])                         ->  [i1, 1 - i1 - i0]
///   topk(T0[i0], k = i1)                          ->  k = 1
/// Empty: it is another expression, or its operands say so.
[[nodiscard]] std::vector<TensorView*> redefine_with_units(
    const Expr& expr, const std::vector<bool>& units);
/// The same where a tensor is made of scalars, of which some are its sizes.
///   full([i0, i1])  ->  full([i0, 1])
void create_units(Expr& expr, const std::vector<bool>& units);

} // namespace nvfuser
