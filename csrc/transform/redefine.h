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

} // namespace nvfuser
