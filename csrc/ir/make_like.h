// The same kind of expression again, of other values.
#pragma once

#include <vector>

#include "ir/expr.h"

namespace nvfuser {

/// An expression with the attributes of `expr`, in the fusion of `outputs`. `inputs` stand in the
/// order of its operands and `outputs` in that of its results, and are as many.
Expr* make_like(
    const Expr& expr, const std::vector<Val*>& inputs, const std::vector<Val*>& outputs);

} // namespace nvfuser
