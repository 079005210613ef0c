// Which expressions a kernel can compute. The others are evaluated.
#pragma once

#include "ir/expr.h"

namespace nvfuser {

/// Whether lowering has a statement for expressions of this kind.
[[nodiscard]] bool has_kernel_form(const Expr& expr);

/// A UserError of kind NotImplemented: whoever can evaluates the fusion instead.
[[noreturn]] void throw_no_kernel_form(const Expr& expr);

} // namespace nvfuser
