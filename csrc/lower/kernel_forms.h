// What a kernel can have, of all that a fusion can say: operations, ways to copy, parallel types,
// kinds of memory. The rest is documented and has no kernel form.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

/// Whether lowering has a statement for expressions of this kind.
[[nodiscard]] bool has_kernel_form(const Expr& expr);

/// A UserError of kind NotImplemented: whoever can evaluates the fusion instead.
[[noreturn]] void throw_no_kernel_form(const Expr& expr);

/// Refuse, with what works instead, what a schedule says of a tensor and no kernel can do: how it
/// is copied, what any of its axes is bound to, where it is. Nothing of that is ever ignored.
void check_kernel_form(const TensorView* tensor);

} // namespace nvfuser
