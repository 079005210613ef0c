// The part of what a fusion can say that a kernel can have: operations, ways to copy, parallel
// types, kinds of memory. The rest is documented and has no kernel form.
#pragma once

#include "base/refusal.h"
#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

/// Says no to expressions without a kernel form; NotImplemented: they can be evaluated.
[[nodiscard]] std::optional<Refusal> find_missing_form(const Expr& expr);

/// Says no, with what works instead, to what a schedule says of a tensor and no kernel can do: how
/// it is copied, what any of its axes is bound to, where it is. Nothing of that is ever ignored.
[[nodiscard]] std::optional<Refusal> find_missing_form(const TensorView* tensor);

} // namespace nvfuser
